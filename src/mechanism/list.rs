//! The list of mechanisms, and a macro that matches any of them.

/// The one list of mechanisms: hands each one's module and type, which is also
/// the name of its variant, to the macro that is named, behind what follows the name.
///
/// A module holds the parameters under that name, `Report` and `Randomizer`. The
/// attribute in front of a line says which builds have the mechanism: this crate's
/// macros, named in brackets, are given it. Other crates' macros would look for the
/// feature in their own manifest; they are not, as they build the core with all.
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

/// Evaluates an expression for the parameters, or other contents of the enum of this name,
/// of the mechanism that a value belongs to.
macro_rules! each {
    ($Enum:ident, $value:expr, $own:pat => $result:expr) => {
        $crate::mechanisms! { [$crate::mechanism::list::each] @ $Enum, $value, $own => $result; }
    };
    (@ $Enum:ident, $value:expr, $own:pat => $result:expr;
        $($(#[$feature:meta])? $module:ident: $Name:ident,)+) => {
        match $value {
            $($(#[$feature])? $Enum::$Name($own) => $result,)+
        }
    };
}

pub(crate) use each;
