//! Mixtures of mechanisms with given parameters.

use hushbin::hash::HashFamily;
use hushbin::mechanism::coco::{self, Coco};
use hushbin::mechanism::collision::{self, Collision};
use hushbin_analysis::accounting::ReportMixture;

pub fn heaviest(favoured: u32, t: u32, epsilon: f64) -> ReportMixture {
    let rule = collision::FavouredBucketRule::Heaviest { favoured };
    let collision = Collision::new(rule, HashFamily::Independent, t).unwrap();
    ReportMixture::for_collision(&collision, 1, epsilon).unwrap()
}

pub fn occupied(s: u32, t: u32, epsilon: f64) -> ReportMixture {
    let collision = Collision::new(
        collision::FavouredBucketRule::Occupied,
        HashFamily::Independent,
        t,
    )
    .unwrap();
    ReportMixture::for_collision(&collision, s, epsilon).unwrap()
}

pub fn overwrite(s: u32, t: u32, epsilon: f64) -> ReportMixture {
    let coco = Coco::new(
        coco::FavouredSideRule::RandomEntryDecides,
        HashFamily::Independent,
        t,
    )
    .unwrap();
    ReportMixture::for_coco(&coco, s, epsilon).unwrap()
}

pub fn strongest(favoured: u32, t: u32, epsilon: f64) -> ReportMixture {
    let rule = coco::FavouredSideRule::Strongest { favoured };
    let coco = Coco::new(rule, HashFamily::Independent, t).unwrap();
    ReportMixture::for_coco(&coco, 1, epsilon).unwrap()
}
