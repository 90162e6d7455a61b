mod coco;
mod collision;
