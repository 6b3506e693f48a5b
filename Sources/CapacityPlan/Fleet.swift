/// Estimates the number of machines for a rate of rooms per hour, by simulation with the estimated cost of each room.
package struct Fleet: Sendable, Hashable {
    /// The capacity of a machine, or the needs of a room.
    package struct Size: Sendable, Hashable {
        /// CPU capacity or need, in thousandths of a core.
        package var millicores: Int64
        /// Memory in bytes.
        package var memory: Int64
        /// Network bandwidth of both directions together, in bit/s.
        package var network: Int64

        package init(millicores: Int64, memory: Int64, network: Int64) {
            (self.millicores, self.memory, self.network) = (millicores, memory, network)
        }

        /// Takes the resources that an orchestrator reserves for a room from its estimated cost.
        package init(_ cost: RoomCost) {
            self.init(
                millicores: cost.peakMillicores, memory: cost.memoryBytes,
                network: CostModel.sum(cost.ingressBitsPerSecond, cost.egressBitsPerSecond))
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

    /// The capacity of each machine; all machines of the fleet are equal.
    package var machine: Size
    /// The needs of each kind of room; all kinds are equally frequent.
    package var rooms: [Size]
    /// Number of rooms that begin per hour (1…1,000,000).
    package var roomsPerHour: Int
    /// Average duration of a room in minutes (1…10,000). Together with ``roomsPerHour`` it must result in at most
    /// ``mostAtOnce`` rooms at once.
    package var minutes: Int
    /// Number of machines that may fail while all rooms still fit (0…100).
    package var spare = 1
    /// Number of rooms in a thousand that may have to wait for a machine (0…999).
    package var waitingPerMille = 1

    package init(machine: Size, rooms: [Size], roomsPerHour: Int, minutes: Int) {
        (self.machine, self.rooms, self.roomsPerHour, self.minutes) = (machine, rooms, roomsPerHour, minutes)
    }

    /// The result of a simulation.
    package struct Outcome: Sendable, Hashable {
        /// Number of machines, including spare ones.
        package var machines = 0
        /// Number of spare machines.
        package var spare = 0
        /// Number of rooms that were evaluated, after the fleet had filled up.
        package var rooms = 0
        /// Number of evaluated rooms that had to wait for a machine when they began.
        package var waited = 0
        /// Longest waiting time of an evaluated room, in milliseconds.
        package var longestWait: Int64 = 0
        /// Maximum number of rooms that ran at once in the simulation.
        package var mostAtOnce = 0
        /// Maximum share of the cores in use on machines that are not spare, in thousandths.
        package var peakShare = 0
    }

    /// Maximum number of machines that are tried, not counting spare ones.
    package static let limit = 10_000
    /// Maximum average number of rooms at once, so that a simulation does not take too long: five times as many rooms
    /// are simulated to fill the fleet.
    package static let mostAtOnce = 20_000

    /// Average number of rooms at once in a steady state, rounded up.
    package var atOnce: Int { Self.atOnce(roomsPerHour: self.roomsPerHour, minutes: self.minutes) }

    /// Average number of rooms of one duration at once in a steady state, rounded up.
    package static func atOnce(roomsPerHour: Int, minutes: Int) -> Int { (roomsPerHour * minutes + 59) / 60 }

    /// Finds the minimum number of machines; `nil` if there is no kind of room, a kind does not fit on a machine, more
    /// than `limit` machines are needed, or on average more than ``mostAtOnce`` rooms run at once.
    ///
    /// - Parameters:
    ///   - count: Number of rooms to simulate, in addition to those that fill the fleet.
    ///   - seed: Seed of the random numbers; the same seed gives the same result.
    ///   - limit: Maximum number of machines that are tried, at least 1.
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
        // The number of machines is doubled until it is enough, and then bisected, because more machines hardly ever
        // make more rooms wait.
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
