import Libc
import DequeModule

/// The rooms that begin during a simulation, independent of the number of machines; times are in milliseconds.
struct FleetArrivals {
    struct Room {
        var time: Int64
        var duration: Int64
        var size: Fleet.Size
    }

    var rooms: [Room]
    /// Index of the first room that is evaluated; the rooms before it only fill the fleet.
    var first: Int

    /// Generates rooms with exponentially distributed intervals and durations.
    static func make(_ fleet: Fleet, count: Int, seed: UInt64) -> FleetArrivals {
        var random = SplitMix(state: seed)
        let between = 3_600_000 / Double(max(1, fleet.roomsPerHour))
        let long = Double(max(1, fleet.minutes)) * 60_000
        // After five times the average duration the fleet is full, except for one room in 150.
        let first = Int(5 * long / between)
        var time = 0.0
        let rooms = (0..<(first + count)).map { _ in
            time += random.exponential(between)
            return Room(
                time: Int64(time), duration: max(1, Int64(random.exponential(long))),
                size: fleet.rooms[Int(random.next() % UInt64(max(1, fleet.rooms.count)))])
        }
        return FleetArrivals(rooms: rooms, first: first)
    }

    /// A random number generator that gives the same numbers on every machine.
    private struct SplitMix {
        var state: UInt64

        mutating func next() -> UInt64 {
            self.state &+= 0x9e37_79b9_7f4a_7c15
            var z = self.state
            z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
            z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
            return z ^ (z >> 31)
        }

        mutating func exponential(_ mean: Double) -> Double {
            -mean * log((Double(self.next() >> 11) + 1) / 9_007_199_254_740_992)
        }
    }
}

/// One simulation: each room is placed on the machine with the most free cores, as orchestrators do; a room that fits
/// nowhere waits in a queue.
struct FleetRun {
    private var free: [Fleet.Size]
    private let machine: Fleet.Size
    /// The running rooms, sorted by the time of their end, the latest first.
    private var running: [(end: Int64, machine: Int, size: Fleet.Size)] = []
    /// The rooms that wait for a machine, in order of arrival.
    private var waiting: Deque<(room: Int, since: Int64)> = []
    /// Maximum number of rooms that may have to wait; if more wait, the fleet is too small, and the simulation stops.
    private let mostWaiting: Int
    private var used: Int64 = 0
    private var mostUsed: Int64 = 0
    private var outcome = Fleet.Outcome()

    init(_ fleet: Fleet, machines: Int, mostWaiting: Int) {
        self.mostWaiting = mostWaiting
        self.free = Array(repeating: fleet.machine, count: machines)
        self.machine = fleet.machine
    }

    /// Simulates the arrivals of rooms on the machines of the fleet.
    ///
    /// - Returns: `nil` if more rooms have to wait than allowed.
    mutating func run(_ arrivals: FleetArrivals) -> Fleet.Outcome? {
        for (index, room) in arrivals.rooms.enumerated() {
            self.end(until: room.time, arrivals)
            if index >= arrivals.first { self.outcome.rooms += 1 }
            if self.waiting.isEmpty, self.place(room, at: room.time) { continue }
            self.waiting.append((index, room.time))
            guard index >= arrivals.first else { continue }
            self.outcome.waited += 1
            if self.outcome.waited > self.mostWaiting { return nil }
        }
        if !self.waiting.isEmpty { self.end(until: .max, arrivals) }
        let whole = self.machine.millicores * Int64(self.free.count)
        self.outcome.peakShare = whole > 0 ? Int(self.mostUsed * 1_000 / whole) : 0
        return self.outcome
    }

    /// Ends the rooms whose time is over, and places waiting rooms on the freed machines.
    private mutating func end(until time: Int64, _ arrivals: FleetArrivals) {
        while let next = self.running.last, next.end <= time {
            self.running.removeLast()
            self.free[next.machine] = self.free[next.machine] + next.size
            self.used -= next.size.millicores
            while let first = self.waiting.first, self.place(arrivals.rooms[first.room], at: next.end) {
                self.waiting.removeFirst()
                if first.room >= arrivals.first {
                    self.outcome.longestWait = max(self.outcome.longestWait, next.end - first.since)
                }
            }
            if time == .max, self.waiting.isEmpty { return }
        }
    }

    private mutating func place(_ room: FleetArrivals.Room, at time: Int64) -> Bool {
        var best: Int?
        for (index, free) in self.free.enumerated() where free.holds(room.size) {
            if best.map({ self.free[$0].millicores < free.millicores }) ?? true { best = index }
        }
        guard let best else { return false }
        self.free[best] = self.free[best] - room.size
        self.used += room.size.millicores
        self.mostUsed = max(self.mostUsed, self.used)
        let end = time + room.duration
        var (low, high) = (0, self.running.count)
        while low < high {
            let middle = (low + high) / 2
            if self.running[middle].end > end { low = middle + 1 } else { high = middle }
        }
        self.running.insert((end, best, room.size), at: low)
        self.outcome.mostAtOnce = max(self.outcome.mostAtOnce, self.running.count)
        return true
    }
}
