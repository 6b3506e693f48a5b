/// Where a value of a pipeline comes from.
package enum SpecPosition: Sendable, Hashable {
    /// No position: a default, or a value made by the program.
    case none
    /// Line and column in the text, both from 1. Columns count Unicode scalars, a tab as one.
    case text(line: Int, column: Int)
    /// A command-line override of the value at `path`; `text` is the given value.
    case flag(path: String, text: String)
}
