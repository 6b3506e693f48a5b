/// An index that finds segments by date, even if dates decrease because a clock was set back.
package struct SegmentDateIndex: Sendable {
    /// For each segment the smallest date of it and all later segments, so that the values never decrease.
    private let floors: [Int64]

    /// Makes an index.
    ///
    /// - Parameter dates: Dates of the segments, in their order.
    package init(_ dates: [Int64]) {
        var floors = dates
        for index in floors.indices.dropLast().reversed() { floors[index] = min(floors[index], floors[index + 1]) }
        self.floors = floors
    }

    /// Returns the index of the last segment that does not begin after a date; `nil` if all begin later. O(log *n*).
    package func last(notAfter date: Int64) -> Int? {
        var (low, high) = (0, self.floors.count)
        while low < high {
            let middle = low + (high - low) / 2
            if self.floors[middle] <= date { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? low - 1 : nil
    }
}
