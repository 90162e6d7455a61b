//! List of mechanisms, and a macro that matches any of them.

/// List of mechanisms: passes the module and the type of each one to the macro that is named first.
/// The type is also the name of its variant. They follow the tokens after the macro's name.
///
/// A module has the parameters under the type's name, `Report` and `Randomizer`. The attribute in
/// front of a line states which builds have the mechanism. This crate's macros are named in
/// brackets and receive the attributes. Macros of other crates do not, because they would look for
/// the feature in their own manifest. Those crates build the core with all mechanisms.
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

/// Evaluates an expression for the mechanism that a value belongs to. `$own` binds the content of
/// the enum's variant: the parameters, or what else the enum holds.
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
