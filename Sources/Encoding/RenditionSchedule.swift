/// Precomputed lists of the renditions that have a frame to encode at a tick: a rendition at half the room's frame rate
/// has one at every second tick, and a rendition in passthrough has none.
struct RenditionSchedule {
    /// Lists of renditions, indexed by the rendition in passthrough plus 1 (0: none), then by the tick within the
    /// period.
    private let tables: [[[Int]]]
    private let period: Int64

    init(_ renditions: [EncodedRendition]) {
        let period = Set(renditions.map(\.frameStep)).reduce(1, *)
        self.period = Int64(period)
        let passing: [Int?] = [nil] + renditions.indices.map { $0 }
        self.tables = passing.map { passing in
            (0..<period).map { tick in renditions.indices.filter { $0 != passing && renditions[$0].takes(Int64(tick)) }
            }
        }
    }

    /// Returns the indices of the renditions that have a frame to encode at a tick, in ascending order.
    ///
    /// - Parameters:
    ///   - tick: 0 or more.
    ///   - passing: Index of the rendition in passthrough; `nil`: none.
    func takers(of tick: Int64, passing: Int?) -> [Int] {
        let row = passing.map { $0 + 1 } ?? 0
        let column = Int(tick % self.period)
        guard self.tables.indices.contains(row), self.tables[row].indices.contains(column) else { return [] }
        return self.tables[row][column]
    }
}
