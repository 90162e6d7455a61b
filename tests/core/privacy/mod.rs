mod coco;
mod collision;
mod hash_bin;
