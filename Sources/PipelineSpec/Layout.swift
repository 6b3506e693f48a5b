package import MediaTypes

/// A named layout, which computes the users' rectangles from their number and order alone.
package enum Layout: String, Sendable, CaseIterable {
    /// One user on the whole canvas.
    case solo
    /// Two users, left and right, each half of the canvas.
    case sideBySide
    /// Two users, one above the other, each half of the canvas.
    case topBottom
    /// The first user on the whole canvas, the second over its lower right corner, a quarter as wide and high.
    case pip
    /// 1 to 16 users in rows of equal cells. The number of columns is the square root of the number of users, rounded
    /// up. A row with fewer users is centered.
    case grid
    /// The first user (the host) large, and up to eight others in a strip on the right (on a portrait canvas, below). A
    /// host alone gets the whole canvas.
    case hostAndGuests
    /// Only the users that are live: one user as ``solo``, two as ``sideBySide`` (on a portrait canvas ``topBottom``),
    /// more as ``grid``.
    case auto

    /// Range of the number of users that the layout accepts.
    package var userCount: ClosedRange<Int> {
        switch self {
        case .solo: 1...1
        case .sideBySide, .topBottom, .pip: 2...2
        case .grid, .auto: 1...16
        case .hostAndGuests: 1...9
        }
    }

    /// Returns the rectangles for `count` users, in their order. All edges and sizes are even if the canvas's sides
    /// are.
    ///
    /// - Parameters:
    ///   - count: Number of users; 0 gives no rectangles.
    ///   - width: Width of the canvas in pixels, at least 64, like `height`.
    package func rectangles(for count: Int, width: Int, height: Int) -> [PixelRect] {
        guard count > 0 else { return [] }
        let whole = PixelRect(x: 0, y: 0, width: width, height: height)
        switch self {
        case .solo: return [whole]
        case .sideBySide: return Self.cells(count, columns: count, in: whole)
        case .topBottom: return Self.cells(count, columns: 1, in: whole)
        case .pip: return [whole] + (1..<count).map { Self.corner($0, in: whole) }
        case .grid: return Self.cells(count, columns: Self.columns(for: count), in: whole)
        case .hostAndGuests: return Self.hostAndGuests(count, in: whole)
        case .auto:
            return Self.automatic(for: count, isUpright: height > width).rectangles(
                for: count, width: width, height: height)
        }
    }

    /// Returns the layout that ``auto`` uses for `count` live users.
    package static func automatic(for count: Int, isUpright: Bool) -> Layout {
        switch count {
        case ...1: .solo
        case 2: isUpright ? .topBottom : .sideBySide
        default: .grid
        }
    }

    // MARK: Geometry

    /// Returns rows of equal cells, edge to edge, for `count` users.
    private static func cells(_ count: Int, columns: Int, in area: PixelRect) -> [PixelRect] {
        let rows = (count + columns - 1) / columns
        return (0..<count).map { index in
            let row = index / columns
            let column = index % columns
            let top = self.edge(row, of: rows, in: area.height)
            let bottom = self.edge(row + 1, of: rows, in: area.height)
            let inRow = min(columns, count - row * columns)
            var left = self.edge(column, of: columns, in: area.width)
            var right = self.edge(column + 1, of: columns, in: area.width)
            if inRow < columns {
                let width = self.edge(1, of: columns, in: area.width)
                left = (area.width - inRow * width) / 2 / 2 * 2 + column * width
                right = left + width
            }
            return PixelRect(x: area.x + left, y: area.y + top, width: right - left, height: bottom - top)
        }
    }

    /// Returns rectangle number `index` (from 1) in the lower right corner, with a quarter of the canvas's width and
    /// height and a margin of 1/32 of the shorter side. Rectangles with higher numbers are stacked upward.
    private static func corner(_ index: Int, in area: PixelRect) -> PixelRect {
        let width = area.width / 4 / 2 * 2
        let height = area.height / 4 / 2 * 2
        let margin = min(area.width, area.height) / 32 / 2 * 2
        return PixelRect(
            x: area.width - margin - width, y: max(0, area.height - index * (margin + height)), width: width,
            height: height)
    }

    private static func hostAndGuests(_ count: Int, in area: PixelRect) -> [PixelRect] {
        guard count > 1 else { return [area] }
        let isUpright = area.height > area.width
        let along = isUpright ? area.width : area.height
        let across = isUpright ? area.height : area.width
        let host = self.edge(3, of: 4, in: across)
        // The strip has at least four cells, so that a guest keeps the canvas's aspect ratio; five or more guests
        // divide it.
        let places = max(4, count - 1)
        let guests = (0..<count - 1).map { index in
            let start = self.edge(index, of: places, in: along)
            let size = self.edge(index + 1, of: places, in: along) - start
            return isUpright
                ? PixelRect(x: start, y: host, width: size, height: across - host)
                : PixelRect(x: host, y: start, width: across - host, height: size)
        }
        return [
            isUpright
                ? PixelRect(x: 0, y: 0, width: area.width, height: host)
                : PixelRect(x: 0, y: 0, width: host, height: area.height)
        ] + guests
    }

    private static func columns(for count: Int) -> Int {
        var columns = 1
        while columns * columns < count { columns += 1 }
        return columns
    }

    /// Returns the even pixel at which cell `index` of `count` begins. Cell sizes differ by at most two pixels, and the
    /// cells fill the whole length.
    private static func edge(_ index: Int, of count: Int, in length: Int) -> Int {
        index == count ? length : length * index / count / 2 * 2
    }
}
