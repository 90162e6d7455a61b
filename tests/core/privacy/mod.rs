mod coco;
mod collision;
mod hash_bin;
mod several_hashes;
