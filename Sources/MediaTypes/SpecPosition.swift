/// Where a value comes from.
package enum SpecPosition: Sendable, Hashable {
    /// Nowhere: a default, or a value made by the program.
    case none
    /// The text: line and column, both from 1. Columns count Unicode scalars, a tab as one.
    case text(line: Int, column: Int)
    /// A command-line override of the value at `path`; `text` is what was given there.
    case flag(path: String, text: String)
}
