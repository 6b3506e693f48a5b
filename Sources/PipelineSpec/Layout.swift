import MediaTypes

/// A layout that needs only the order of its users.
package enum Layout: String, Sendable, CaseIterable {
    /// One user on the whole canvas.
    case solo
    /// Two users, left and right, each half of the canvas.
    case sideBySide
    /// One to sixteen users in rows of equal cells, as many columns as the square root rounded up; a row that is not
    /// full is centered.
    case grid

    /// How many users it takes.
    package var userCount: ClosedRange<Int> {
        switch self {
        case .solo: 1...1
        case .sideBySide: 2...2
        case .grid: 1...16
        }
    }

    /// The rectangles for `uids`, in their order. Pure; every edge and size is even when the canvas is.
    func panes(for uids: [String], canvas: Pipeline.Canvas) -> [Pane] {
        guard !uids.isEmpty else { return [] }
        let columns = self == .sideBySide ? uids.count : Self.columns(for: uids.count)
        let rows = (uids.count + columns - 1) / columns
        return uids.enumerated().map { index, uid in
            let row = index / columns
            let column = index % columns
            let top = Self.edge(row, of: rows, in: canvas.height)
            let bottom = Self.edge(row + 1, of: rows, in: canvas.height)
            let inRow = min(columns, uids.count - row * columns)
            let left: Int
            let right: Int
            if inRow == columns {
                left = Self.edge(column, of: columns, in: canvas.width)
                right = Self.edge(column + 1, of: columns, in: canvas.width)
            } else {
                let width = Self.edge(1, of: columns, in: canvas.width)
                left = ((canvas.width - inRow * width) / 2) / 2 * 2 + column * width
                right = left + width
            }
            return Pane(SourceID(uid), x: left, y: top, width: right - left, height: bottom - top)
        }
    }

    private static func columns(for count: Int) -> Int {
        var columns = 1
        while columns * columns < count { columns += 1 }
        return columns
    }

    /// The even pixel at which cell `index` of `count` begins: cells differ by at most one pair of pixels and leave
    /// none over.
    private static func edge(_ index: Int, of count: Int, in length: Int) -> Int {
        index == count ? length : length * index / count / 2 * 2
    }
}
