/// How many machines a number of rooms an hour needs: found by simulating them, from what each room is reckoned to cost.
package struct Fleet: Sendable, Hashable {
    /// What one machine has for rooms, or what one room needs of it.
    package struct Size: Sendable, Hashable {
        /// Thousandths of a core.
        package var millicores: Int64
        /// Bytes.
        package var memory: Int64
        /// Both ways together, in bit/s.
        package var network: Int64

        package init(millicores: Int64, memory: Int64, network: Int64) {
            (self.millicores, self.memory, self.network) = (millicores, memory, network)
        }

        /// What an engine sets aside for the room.
        package init(_ cost: RoomCost) {
            self.init(
                millicores: cost.peakMillicores, memory: cost.memoryBytes,
                network: cost.ingressBitsPerSecond + cost.egressBitsPerSecond)
        }

        func holds(_ other: Size) -> Bool {
            self.millicores >= other.millicores && self.memory >= other.memory && self.network >= other.network
        }

        static func + (one: Size, other: Size) -> Size {
            Size(
                millicores: one.millicores + other.millicores, memory: one.memory + other.memory,
                network: one.network + other.network)
        }

        static func - (one: Size, other: Size) -> Size {
            Size(
                millicores: one.millicores - other.millicores, memory: one.memory - other.memory,
                network: one.network - other.network)
        }
    }

    /// Every machine is like this one.
    package var machine: Size
    /// Kinds of rooms; each comes as often as the others.
    package var rooms: [Size]
    /// Rooms that begin in an hour (1…1,000,000).
    package var roomsPerHour: Int
    /// How long one lives on average, in minutes (1…10,000). With ``roomsPerHour`` no more than ``mostAtOnce`` rooms live at once.
    package var minutes: Int
    /// Machines that may be lost while every room still finds a place (0…100).
    package var spare = 1
    /// Rooms of a thousand that may have to wait for their place (0…999).
    package var waitingPerMille = 1

    package init(machine: Size, rooms: [Size], roomsPerHour: Int, minutes: Int) {
        (self.machine, self.rooms, self.roomsPerHour, self.minutes) = (machine, rooms, roomsPerHour, minutes)
    }

    /// What came of a simulation.
    package struct Outcome: Sendable, Hashable {
        /// With the spare ones.
        package var machines = 0
        /// Machines of them that may be lost.
        package var spare = 0
        /// Rooms that were looked at, once the fleet had filled up.
        package var rooms = 0
        /// Those of them that found no place when they came.
        package var waited = 0
        /// Longest time one waited, in milliseconds.
        package var longestWait: Int64 = 0
        /// Most that ran at once.
        package var mostAtOnce = 0
        /// Most of the cores of the machines that are not spare that rooms had at once, in thousandths.
        package var peakShare = 0
    }

    /// Most machines that are tried; the spare ones come on top.
    package static let limit = 10_000
    /// Most rooms that live at once on average: a fleet of more takes longer to fill up than is simulated.
    package static let mostAtOnce = 20_000

    /// Rooms that live at once on average, as many come as go.
    package var atOnce: Int { (self.roomsPerHour * self.minutes + 59) / 60 }

    /// The fewest machines that are enough; `nil`: a room fits none, more than `limit` are needed, or more than ``mostAtOnce``
    /// rooms live at once.
    ///
    /// - Parameters:
    ///   - count: Rooms to simulate, besides those that fill the fleet first.
    ///   - seed: The same gives the same answer.
    ///   - limit: Most machines that are tried, 1 or more.
    package func plan(count: Int = 20_000, seed: UInt64 = 1, limit: Int = Self.limit) -> Outcome? {
        guard !self.rooms.isEmpty, self.rooms.allSatisfy({ self.machine.holds($0) }), self.atOnce <= Self.mostAtOnce
        else { return nil }
        let arrivals = FleetArrivals.make(self, count: count, seed: seed)
        let mostWaiting = count * self.waitingPerMille / 1_000
        func run(_ machines: Int) -> Outcome? {
            var run = FleetRun(self, machines: machines, mostWaiting: mostWaiting)
            return run.run(arrivals)
        }
        var enough: (machines: Int, outcome: Outcome)?
        var (low, high) = (1, 1)
        // Doubled until it is enough, then halved in between: more machines never make more rooms wait by much.
        while enough == nil {
            guard low <= limit else { return nil }
            if let outcome = run(high) {
                enough = (high, outcome)
            } else {
                (low, high) = (high + 1, min(high * 2, limit))
            }
        }
        while low < high {
            let middle = (low + high) / 2
            if let outcome = run(middle) { (high, enough) = (middle, (middle, outcome)) } else { low = middle + 1 }
        }
        guard var (machines, outcome) = enough else { return nil }
        machines += self.spare
        (outcome.machines, outcome.spare) = (machines, self.spare)
        return outcome
    }
}
