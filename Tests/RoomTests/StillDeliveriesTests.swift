import MediaTypes
import RoomSources
import Testing

@Suite("Stills for moderation: schedule and delivery")
struct StillDeliveriesTests {
    private static let first = SourceID(uid: "1")
    private static let second = SourceID(uid: "2")
    private static let second1: Int64 = 1_000_000_000

    @Test("one still of each source is sent at a time; meanwhile a newer still replaces one that waits")
    func replaced() {
        var stills = StillDeliveries<Int>()
        stills.add(1, of: Self.first)
        let one = stills.next(now: 0)
        #expect(one?.source == Self.first && one?.still == 1)
        stills.add(2, of: Self.first)
        stills.add(3, of: Self.first)
        stills.add(4, of: Self.second)
        let two = stills.next(now: 0)
        #expect(two?.source == Self.second && two?.still == 4, "the first source's still is on its way")
        let none = stills.next(now: 0)
        #expect(none == nil)
        let notice = stills.finished(Self.first, failure: nil, now: 1, jitter: 0)
        #expect(notice == nil)
        let three = stills.next(now: 1)
        #expect(three?.still == 3 && stills.counts.replaced == 1 && stills.counts.delivered == 1)
    }

    @Test(
        "while the receiver fails, one still is sent at a time, at intervals that rise to 30 s, until one is delivered")
    func failing() {
        var stills = StillDeliveries<Int>()
        var now: Int64 = 0
        stills.add(1, of: Self.first)
        stills.add(2, of: Self.second)
        _ = stills.next(now: now)
        _ = stills.next(now: now)
        let began = stills.finished(Self.first, failure: "status 503", now: now, jitter: 500)
        let more = stills.finished(Self.second, failure: "timeout", now: now, jitter: 500)
        #expect(began == .failing("status 503") && more == nil && stills.failingSince == 0 && stills.failures == 2)
        stills.add(3, of: Self.first)
        stills.add(4, of: Self.second)
        var waits: [Int64] = []
        for _ in 0..<10 {
            let tried = now
            while true {
                now += 100_000_000
                if stills.next(now: now) != nil { break }
            }
            waits.append(now - tried)
            let other = stills.next(now: now)
            #expect(other == nil, "one at a time")
            _ = stills.finished(Self.first, failure: "timeout", now: now, jitter: 500)
            _ = stills.finished(Self.second, failure: "timeout", now: now, jitter: 500)
            stills.add(5, of: Self.first)
            stills.add(6, of: Self.second)
        }
        #expect(waits == waits.sorted() && waits.last == 30 * Self.second1, "\(waits)")
        now += 60 * Self.second1
        let next = stills.next(now: now)
        let restored = next.flatMap { stills.finished($0.source, failure: nil, now: now, jitter: 0) }
        #expect(restored == .restored(failures: 22) && stills.failingSince == nil && stills.failures == 0)
    }

    @Test("a discarded still is not sent")
    func discarded() {
        var stills = StillDeliveries<Int>()
        stills.add(1, of: Self.first)
        stills.discard(Self.first)
        let none = stills.next(now: 0)
        #expect(none == nil)
    }

    @Test(
        "a publication's first still is due at once and later ones at the interval; if there is no new still, one is due again in 250 ms"
    )
    func schedule() {
        var schedule = StillSchedule()
        let interval = 10 * Self.second1
        func due(_ published: [SourceID], _ now: Int64, _ interval: Int64) -> [SourceID] {
            schedule.next(published, interval: interval, now: now)
        }
        #expect(due([Self.first], 5, interval) == [Self.first])
        #expect(due([Self.first, Self.second], 6, interval) == [Self.second])
        schedule.failed(Self.second, now: 6)
        #expect(due([Self.first, Self.second], 6 + StillSchedule.retry - 1, interval) == [])
        #expect(due([Self.first, Self.second], 6 + StillSchedule.retry, interval) == [Self.second])
        #expect(due([Self.first, Self.second], 4 + interval, interval) == [])
        #expect(due([Self.first, Self.second], 5 + interval, interval) == [Self.first])
        // A shorter interval applies at once; a source that has left and comes back is due at once.
        #expect(due([Self.first], 5 + interval + Self.second1, Self.second1) == [])
        #expect(due([Self.first], 5 + interval + 2 * Self.second1, Self.second1) == [Self.first])
        #expect(due([], 5 + interval + 2 * Self.second1, Self.second1) == [])
        #expect(due([Self.first], 5 + interval + 2 * Self.second1, Self.second1) == [Self.first])
    }
}
