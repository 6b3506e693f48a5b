import Recording
import Testing

@Suite("Finding segments by date")
struct SegmentDateIndexTests {
    @Test(
        "for a date, the index finds the last segment that starts at or before it, and none for a date before the first segment"
    )
    func found() {
        let places = SegmentDateIndex([10, 20, 30])
        #expect([9, 10, 19, 20, 29, 30, 31, .max].map { places.last(notAfter: $0) } == [nil, 0, 0, 1, 1, 2, 2, 2])
        #expect(SegmentDateIndex([]).last(notAfter: 5) == nil && SegmentDateIndex([7]).last(notAfter: .min) == nil)
    }

    @Test(
        "after a clock was set back, the index finds later segments by their own dates, despite earlier segments with later dates"
    )
    func setBack() {
        // Set back by 35 after the fourth.
        let dates: [Int64] = [100, 110, 120, 130, 105, 115, 125, 135, 145]
        let places = SegmentDateIndex(dates)
        for (index, date) in dates.enumerated().dropFirst(4) {
            #expect(places.last(notAfter: date) == index, "after the jump each is found by its own date")
        }
        // A date below all those after the jump gives a segment before it, any other one the last that is not later.
        #expect(places.last(notAfter: 100) == 0 && places.last(notAfter: 104) == 0 && places.last(notAfter: 99) == nil)
        for date: Int64 in 105..<145 {
            let place = places.last(notAfter: date)
            #expect(place == dates.lastIndex { $0 <= date }, "\(date)")
        }
    }

    @Test("for random date jumps, the index finds the same segment as a linear search from the end")
    func walked() {
        var seed: UInt64 = 7
        func number(_ bound: Int64) -> Int64 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int64(seed >> 33) % bound
        }
        for _ in 0..<200 {
            let dates = (0..<number(40)).map { _ in number(50) }
            let places = SegmentDateIndex(dates)
            for date: Int64 in -1...50 {
                #expect(places.last(notAfter: date) == dates.lastIndex { $0 <= date }, "\(dates) \(date)")
            }
        }
    }
}
