import MediaTypes
package import PipelineSpec

/// An estimate of what a number of equal rooms that run at the same time need and cost.
package struct RoomsAtOnce: Sendable, Hashable {
    /// Maximum number of rooms, so that the sums do not overflow.
    package static let mostRooms = 100_000
    /// Maximum number of viewers of each room through a CDN.
    package static let mostViewers = 1_000_000
    /// Maximum duration of a room in minutes: 366 days.
    package static let mostMinutes = 527_040

    /// Number of rooms that run at the same time (1…``mostRooms``).
    package var rooms: Int
    /// Duration of each room, in minutes (1…``mostMinutes``).
    package var minutes: Int
    /// Number of spare machines for failures, in addition to the machines that run the rooms.
    package var spare = 1
    /// Number of viewers of each room that a CDN serves; viewers at the room's own listener are in ``cost``.
    package var cdnViewers = 0
    /// Number of days that recordings are stored.
    package var keptDays = 30
    /// The estimated resources of one room.
    package var cost: RoomCost
    /// The average bit rates of one room.
    package var traffic: AverageTraffic
    /// The kinds of machines and the prices.
    package var prices: PriceList

    package init(
        rooms: Int, minutes: Int, cost: RoomCost, pipeline: Pipeline, prices: PriceList
    ) {
        (self.rooms, self.minutes, self.cost, self.prices) = (rooms, minutes, cost, prices)
        self.traffic = AverageTraffic(pipeline)
    }

    // MARK: Traffic and storage

    private func bytes(_ bitsPerSecond: Int64, rooms: Int) -> Int64 {
        let seconds = CostModel.product(Int64(self.minutes), 60)
        return TimeMath.scale(
            bitsPerSecond, by: CostModel.product(seconds, Int64(rooms)), over: 8, rounding: .up)
    }

    /// Bytes that all rooms send to their own viewers, relays, servers and stores in the whole time.
    package var sentBytes: Int64 {
        let viewers = CostModel.product(Int64(self.cost.viewers), self.traffic.perViewer)
        return self.bytes(CostModel.sum(self.traffic.sent, viewers), rooms: self.rooms)
    }

    /// Bytes that a CDN sends to viewers in the whole time.
    package var cdnBytes: Int64 {
        self.bytes(CostModel.product(Int64(self.cdnViewers), self.traffic.perViewer), rooms: self.rooms)
    }

    /// Bytes of the recordings of all rooms when they end.
    package var recordedBytes: Int64 { self.bytes(self.traffic.recorded, rooms: self.rooms) }

    /// Bytes on the machines' disks for the playlist windows of all rooms.
    package var windowBytes: Int64 { self.all(self.cost.windowBytes) }

    /// The amount that all rooms need together, given the amount for one room; at most `Int64.max`.
    func all(_ one: Int64) -> Int64 { CostModel.product(one, Int64(self.rooms)) }

    // MARK: Machines

    /// The machines of one kind that are needed to run all rooms.
    package struct Fit: Sendable, Hashable {
        package var machine: PriceList.Machine
        /// Number of rooms on one machine; 0: a room does not fit.
        package var roomsPerMachine: Int
        /// The resource that limits the number of rooms on a machine: `cores`, `memory` or `network`.
        package var limit: String
        /// Number of machines, including the spare machines; 0 if a room does not fit.
        package var machines: Int
        /// Price of all machines for the whole time; `nil` if it is unknown, or a room does not fit.
        package var price: Double?
    }

    /// The machines needed of each kind, in the order of the price list.
    package var fits: [Fit] { self.prices.machines.map(self.fit) }

    private func fit(_ machine: PriceList.Machine) -> Fit {
        let need = Fleet.Size(self.cost)
        let counts = [
            ("cores", machine.size.millicores / max(1, need.millicores)),
            ("memory", machine.size.memory / max(1, need.memory)),
            ("network", machine.size.network / max(1, need.network)),
        ]
        let least = counts.min { $0.1 < $1.1 } ?? ("cores", 0)
        let perMachine = Int(clamping: least.1)
        let machines = perMachine == 0 ? 0 : max(0, self.rooms - 1) / perMachine + 1 + self.spare
        return Fit(
            machine: machine, roomsPerMachine: perMachine, limit: least.0, machines: machines,
            price: perMachine == 0 ? nil : machine.perHour.map { $0 * Double(machines) * self.hours })
    }

    private var hours: Double { Double(self.minutes) / 60 }

    /// The cheapest kind of machine whose price is known; if no price is known, the kind of which the fewest machines
    /// are needed. nil if a room fits on no kind of machine.
    package var best: Fit? {
        let fitting = self.fits.filter { $0.machines > 0 }
        let priced = fitting.filter { $0.price != nil }
        guard priced.isEmpty else { return priced.min { ($0.price ?? 0) < ($1.price ?? 0) } }
        return fitting.min { $0.machines < $1.machines }
    }

    // MARK: Money

    /// The costs of all rooms for the whole time. A cost is `nil` if its price is unknown, and 0 if nothing is used. The
    /// cost of the machines is also `nil` if a room fits on no machine.
    package struct Bill: Sendable, Hashable {
        package var machines: Double?
        package var egress: Double?
        package var cdn: Double?
        package var storage: Double?

        private var parts: [Double?] { [self.machines, self.egress, self.cdn, self.storage] }

        /// Sum of all costs; `nil` if one of them is unknown, because a sum without it would look like the total.
        package var total: Double? {
            self.parts.contains(nil) ? nil : self.parts.reduce(0) { $0 + ($1 ?? 0) }
        }
    }

    /// Number of days in a month, for the price of storage.
    private static let monthDays = 30.0

    package var bill: Bill {
        func price(_ bytes: Int64, _ perGB: Double?, _ factor: Double = 1) -> Double? {
            bytes == 0 ? 0 : perGB.map { $0 * Double(bytes) / 1e9 * factor }
        }
        return Bill(
            machines: self.best?.price, egress: price(self.sentBytes, self.prices.egressPerGB),
            cdn: price(self.cdnBytes, self.prices.cdnPerGB),
            storage: price(
                self.recordedBytes, self.prices.storagePerGBMonth, Double(self.keptDays) / Self.monthDays))
    }

    /// The total price of one room for one hour; `nil` if a part is unknown.
    package var perRoomHour: Double? { self.bill.total.map { $0 / Double(self.rooms) / self.hours } }
}
