//! Nothing: the tests beside it are the package.
