import ArgumentParser
import MediaTypes
import CapacityPlan

/// Options of `tandem plan --fleet`.
struct FleetOptions: ParsableArguments {
    @Option(help: "Number of rooms that begin per hour.")
    var roomsPerHour = 60

    @Option(help: "Average duration of a room, in minutes.")
    var minutes = 60

    @Option(help: "Cores per machine.")
    var machineCores = 16

    @Option(help: "Memory per machine, in GiB.")
    var machineMemory = 64

    @Option(help: "Network bandwidth per machine, in Mbit/s, both directions together.")
    var machineNetwork = 10_000

    @Option(help: "Number of machines that may fail while all rooms still fit.")
    var spare = 1

    @Option(help: "Number of rooms in a thousand that may wait for a machine.")
    var waiting = 1

    @Option(
        help: ArgumentHelp(
            "Pipeline file of another kind of room that begins as often as the first; repeatable.", valueName: "file"))
    var beside: [String] = []

    func validate() throws {
        let ranges: [(String, Int, ClosedRange<Int>)] = [
            ("--rooms-per-hour", self.roomsPerHour, 1...100_000), ("--minutes", self.minutes, 1...10_000),
            ("--machine-cores", self.machineCores, 1...1_024), ("--machine-memory", self.machineMemory, 1...65_536),
            ("--machine-network", self.machineNetwork, 1...10_000_000), ("--spare", self.spare, 0...100),
            ("--waiting", self.waiting, 0...999),
        ]
        for (name, value, range) in ranges where !range.contains(value) {
            throw ValidationError("\(name) \(value): give \(range.lowerBound) to \(range.upperBound)")
        }
        let rooms = self.roomsPerHour * self.minutes / 60
        guard rooms <= Fleet.mostAtOnce else {
            throw ValidationError(
                "--rooms-per-hour \(self.roomsPerHour) of --minutes \(self.minutes) make \(rooms) rooms at once: "
                    + "plan for \(Fleet.mostAtOnce) at most, and use several fleets of that size")
        }
    }

    /// The capacity of a machine.
    var machine: Fleet.Size {
        Fleet.Size(
            millicores: Int64(self.machineCores) * 1_000, memory: Int64(self.machineMemory) << 30,
            network: Int64(self.machineNetwork) * 1_000_000)
    }

    /// Simulates the fleet and prints the result.
    func plan(_ cost: RoomCost, model: CostModel, isJSON: Bool) throws {
        let others = try self.beside.map { Fleet.Size(model.cost(of: try PipelineLoading.load($0, set: []))) }
        var fleet = Fleet(
            machine: self.machine, rooms: [Fleet.Size(cost)] + others, roomsPerHour: self.roomsPerHour,
            minutes: self.minutes)
        fleet.spare = self.spare
        fleet.waitingPerMille = self.waiting
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
