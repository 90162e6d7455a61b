//! Mixtures of mechanisms with given parameters.

use hushbin::hash::HashFamily;
use hushbin::mechanism::coco::{self, Coco};
use hushbin::mechanism::collision::{self, Collision};
use hushbin_analysis::accounting::Mixture;

pub fn heaviest(favoured: u32, t: u32, epsilon: f64) -> Mixture {
    let rule = collision::Rule::Heaviest { favoured };
    let collision = Collision::new(rule, HashFamily::Independent, t).unwrap();
    Mixture::collision(&collision, 1, epsilon).unwrap()
}

pub fn occupied(s: u32, t: u32, epsilon: f64) -> Mixture {
    let collision = Collision::new(collision::Rule::Occupied, HashFamily::Independent, t).unwrap();
    Mixture::collision(&collision, s, epsilon).unwrap()
}

pub fn overwrite(s: u32, t: u32, epsilon: f64) -> Mixture {
    let coco = Coco::new(coco::Rule::Overwrite, HashFamily::Independent, t).unwrap();
    Mixture::coco(&coco, s, epsilon).unwrap()
}

pub fn strongest(favoured: u32, t: u32, epsilon: f64) -> Mixture {
    let rule = coco::Rule::Strongest { favoured };
    let coco = Coco::new(rule, HashFamily::Independent, t).unwrap();
    Mixture::coco(&coco, 1, epsilon).unwrap()
}
