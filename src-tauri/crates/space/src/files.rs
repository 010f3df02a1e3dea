//! Files of a Space, by directory handles.
