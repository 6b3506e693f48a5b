import ArgumentParser
import MediaTypes
import CapacityPlan

/// Options of `tandem plan --fleet`.
struct FleetOptions: ParsableArguments {
    @Option(help: "Number of rooms that begin per hour (default: 60).")
    var roomsPerHour: Int?

    @Option(help: "Average duration of a room, in minutes (default: 60).")
    var minutes: Int?

    @Option(help: "Cores per machine (default: 16).")
    var machineCores: Int?

    @Option(help: "Memory per machine, in GiB (default: 64).")
    var machineMemory: Int?

    @Option(help: "Network bandwidth per machine, in Mbit/s, both directions together (default: 10000).")
    var machineNetwork: Int?

    @Option(help: "Number of machines that may fail while all rooms still fit (default: 1).")
    var spare: Int?

    @Option(help: "Number of rooms in a thousand that may wait for a machine (default: 1).")
    var waiting: Int?

    @Option(
        help: ArgumentHelp(
            "Pipeline file of another kind of room that begins as often as the first; repeatable.", valueName: "file"))
    var beside: [String] = []

    static let usualSpare = 1
    private static let usualRooms = 60
    private static let usualMinutes = 60

    var cores: Int { self.machineCores ?? 16 }
    var memory: Int { self.machineMemory ?? 64 }
    var network: Int { self.machineNetwork ?? 10_000 }

    func validate() throws {
        let ranges: [(String, Int?, ClosedRange<Int>)] = [
            ("--rooms-per-hour", self.roomsPerHour, 1...100_000), ("--minutes", self.minutes, 1...10_000),
            ("--machine-cores", self.machineCores, 1...1_024), ("--machine-memory", self.machineMemory, 1...65_536),
            ("--machine-network", self.machineNetwork, 1...10_000_000), ("--spare", self.spare, 0...100),
            ("--waiting", self.waiting, 0...999),
        ]
        for case (let name, let value?, let range) in ranges where !range.contains(value) {
            throw ValidationError("\(name) \(value): give \(range.lowerBound) to \(range.upperBound)")
        }
        let (perHour, minutes) = (self.roomsPerHour ?? Self.usualRooms, self.minutes ?? Self.usualMinutes)
        let rooms = Fleet.atOnce(roomsPerHour: perHour, minutes: minutes)
        guard rooms <= Fleet.mostAtOnce else {
            throw ValidationError(
                "--rooms-per-hour \(perHour) with --minutes \(minutes) gives \(rooms) rooms at once: "
                    + "plan at most \(Fleet.mostAtOnce) rooms at once, and divide a larger fleet")
        }
    }

    /// Refuses options that would have no effect.
    ///
    /// - Parameters:
    ///   - isFleet: Whether a fleet is simulated.
    ///   - hasRooms: Whether rooms at the same time are planned; they use the options of machines.
    func check(isFleet: Bool, hasRooms: Bool) throws {
        let fleet = [
            ("--rooms-per-hour", self.roomsPerHour != nil), ("--minutes", self.minutes != nil),
            ("--waiting", self.waiting != nil), ("--beside", !self.beside.isEmpty),
        ]
        if !isFleet, let option = fleet.first(where: { $0.1 })?.0 { throw ValidationError("\(option) is for --fleet") }
        let machines = [
            ("--machine-cores", self.machineCores != nil), ("--machine-memory", self.machineMemory != nil),
            ("--machine-network", self.machineNetwork != nil), ("--spare", self.spare != nil),
        ]
        if !isFleet, !hasRooms, let option = machines.first(where: { $0.1 })?.0 {
            throw ValidationError("\(option) is for --fleet and --rooms")
        }
    }

    /// The capacity of a machine.
    var machine: Fleet.Size {
        Fleet.Size(
            millicores: Int64(self.cores) * 1_000, memory: Int64(self.memory) << 30,
            network: Int64(self.network) * 1_000_000)
    }

    /// Simulates the fleet and prints the result.
    func plan(_ cost: RoomCost, model: CostModel, isJSON: Bool) throws {
        let others = try self.beside.map { Fleet.Size(model.cost(of: try PipelineLoading.load($0, set: []))) }
        var fleet = Fleet(
            machine: self.machine, rooms: [Fleet.Size(cost)] + others,
            roomsPerHour: self.roomsPerHour ?? Self.usualRooms, minutes: self.minutes ?? Self.usualMinutes)
        fleet.spare = self.spare ?? Self.usualSpare
        fleet.waitingPerMille = self.waiting ?? 1
        guard let outcome = fleet.plan() else {
            StandardError.write(
                "these rooms do not fit on \(Fleet.limit) machines. Fix: use larger machines (--machine-cores, "
                    + "--machine-memory, --machine-network), or rooms that need less\n")
            throw ExitCode(1)
        }
        if isJSON {
            let json: JSONValue = [
                "machines": JSONValue(outcome.machines), "spare": JSONValue(outcome.spare),
                "rooms": JSONValue(outcome.rooms), "waited": JSONValue(outcome.waited),
                "longestWaitMs": .integer(outcome.longestWait), "mostAtOnce": JSONValue(outcome.mostAtOnce),
                "peakCoresPerMille": JSONValue(outcome.peakShare), "measuredOn": .string(cost.machine),
            ]
            try StandardOutput.write(json.text + "\n")
        } else {
            try StandardOutput.write(
                """
                machines   \(outcome.machines), \(outcome.spare) of them spare
                rooms      \(outcome.mostAtOnce) at once at most, of \(outcome.rooms) simulated
                waited     \(outcome.waited), \(outcome.longestWait / 1_000) s at most
                cores      \(outcome.peakShare / 10) % in use at most, of the machines that are not spare
                measured on \(cost.machine)

                """)
        }
    }
}
