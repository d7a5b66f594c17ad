//! Choices by the names that users type and files have.

/// Names an enum's choices: the list of all, `name`, `from_name`, `Display` and `Serialize`.
#[macro_export]
macro_rules! names {
    ($kind:ident { $($choice:ident = $name:literal,)+ }) => {
        impl $kind {
            /// All that there are.
            pub const ALL: [$kind; [$($name),+].len()] = [$($kind::$choice),+];

            /// The name.
            pub const fn name(self) -> &'static str {
                match self { $($kind::$choice => $name),+ }
            }

            /// The one of that name.
            pub fn from_name(name: &str) -> ::std::option::Option<$kind> {
                $kind::ALL.into_iter().find(|one| one.name() == name)
            }
        }

        impl ::std::fmt::Display for $kind {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl $crate::serde::Serialize for $kind {
            fn serialize<S: $crate::serde::Serializer>(&self, to: S) -> ::std::result::Result<S::Ok, S::Error> {
                to.serialize_str(self.name())
            }
        }
    };
}
