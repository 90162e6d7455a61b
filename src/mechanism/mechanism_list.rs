//! List of all mechanisms, and a macro that matches any of them.

/// List of all mechanisms. The first argument of `mechanisms!` is the name of another macro.
/// `mechanisms!` calls that macro with the module and the type of every mechanism. Further
/// arguments are passed in front of the list. A type's name is also the name of its variant in
/// enums.
///
/// A mechanism's module exports its parameters under the type's name, and the types `Report` and
/// `Randomizer`. The attribute in front of a line states which builds contain the mechanism.
///
/// A macro of this crate is named in brackets and receives the attributes. A macro of another crate
/// is named without brackets and does not receive them, because it would look for the feature in
/// that crate's own manifest. Other crates build the core with all mechanisms.
#[doc(hidden)]
#[macro_export]
macro_rules! mechanisms {
    ([$($callback:tt)+] $($first:tt)*) => {
        $($callback)+! { $($first)*
            collision: Collision,
            #[cfg(feature = "complete")]
            coco: Coco,
            #[cfg(feature = "complete")]
            hash_bin: HashBin,
            #[cfg(feature = "complete")]
            window: Window,
            #[cfg(feature = "complete")]
            pattern: Pattern,
        }
    };
    (@bare $callback:ident [$($first:tt)*]
        $($(#[$feature:meta])? $module:ident: $Name:ident,)+) => {
        $callback! { $($first)* $($module: $Name,)+ }
    };
    ($callback:ident $($first:tt)*) => {
        $crate::mechanisms! { [$crate::mechanisms] @bare $callback [$($first)*] }
    };
}

/// Evaluates `$result` for the mechanism of `$value`. The type of `$value` is `$Enum`, which has
/// one variant for each mechanism. `$own` binds the content of the variant, for example the
/// parameters.
macro_rules! match_any_mechanism {
    ($Enum:ident, $value:expr, $own:pat => $result:expr) => {
        $crate::mechanisms! { [$crate::mechanism::mechanism_list::match_any_mechanism] @ $Enum, $value, $own => $result; }
    };
    (@ $Enum:ident, $value:expr, $own:pat => $result:expr;
        $($(#[$feature:meta])? $module:ident: $Name:ident,)+) => {
        match $value {
            $($(#[$feature])? $Enum::$Name($own) => $result,)+
        }
    };
}

pub(crate) use match_any_mechanism;
