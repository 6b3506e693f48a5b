import ArgumentParser
import PipelineSpec
import CapacityPlan

struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Estimate what rooms need and cost: cores, memory, bandwidth, disk, machines, money.",
        discussion: """
            The estimate is calculated from the pipeline file and from the measured speed of this machine. Sources are
            assumed to have 720p at 30 frames per second and 2 Mbit/s unless they have "expected". The cores are the
            95th percentile of one-second intervals; savings by passthrough are not included.

                tandem plan room.json
                tandem plan room.json --json --viewers 500
                tandem plan --calibrate

            With --rooms, answers for that many rooms at the same time: machines, traffic, recordings and their price.
            There are no prices by default: they come from options or from a file. Machines are filled by the peak of a
            room; traffic and recordings are charged by the average bit rates.

                tandem plan room.json --rooms 500 --hours 1 --viewers 20
                tandem plan room.json --rooms 500 \\
                  --prices examples/plan/prices.example.json

            With --fleet, estimates how many machines a number of rooms per hour needs, by simulating 20,000 rooms.

                tandem plan room.json --fleet --rooms-per-hour 120 --minutes 60 \\
                  --machine-cores 16
            """)

    @Flag(help: "Estimate the machines for rooms like this one that begin all day, instead of for one room.")
    var fleet = false

    @OptionGroup(title: "Rooms at once")
    var atOnce: RoomsOptions

    @OptionGroup(title: "A fleet, and its machines")
    var options: FleetOptions

    @Argument(help: "The pipeline file; - is standard input.")
    var pipeline: String?

    @Option(name: .long, help: ArgumentHelp("Override a value of the file, repeatable.", valueName: "path=value"))
    var set: [String] = []

    @Option(help: "Number of viewers at the room's own listener.")
    var viewers: Int = 0

    @Flag(help: "Write JSON.")
    var json = false

    @Flag(help: "Measure this machine first, for at most a minute, and store the result.")
    var calibrate = false

    @Option(
        help: ArgumentHelp(
            "File of the measurement (default: $XDG_CACHE_HOME/tandem/calibration.json).", valueName: "file"))
    var calibration: String?

    func validate() throws {
        guard self.pipeline != nil || self.calibrate else {
            throw ValidationError("give a pipeline file, or --calibrate")
        }
        if self.fleet, self.pipeline == nil { throw ValidationError("--fleet: give a pipeline file") }
        if self.atOnce.rooms != nil {
            guard !self.fleet else { throw ValidationError("--rooms or --fleet, not both") }
            guard self.pipeline != nil else { throw ValidationError("--rooms: give a pipeline file") }
        }
        guard (0...RoomsAtOnce.mostViewers).contains(self.viewers) else {
            throw ValidationError("--viewers \(self.viewers): give 0 to \(RoomsAtOnce.mostViewers)")
        }
        try self.options.check(isFleet: self.fleet, hasRooms: self.atOnce.rooms != nil)
        guard self.pipeline != nil || self.set.isEmpty && self.viewers == 0 && !self.json else {
            throw ValidationError("--set, --viewers and --json are for an estimate: give a pipeline file")
        }
    }

    func run() throws {
        if self.calibrate { try CalibrationFile.measure(into: self.calibration) }
        guard let file = self.pipeline else { return }
        let pipeline = try PipelineLoading.load(file, set: self.set)
        let model = CostModel(try CalibrationFile.read(self.calibration), viewers: self.viewers)
        let cost = model.cost(of: pipeline)
        if let rooms = self.atOnce.rooms {
            let answer = try self.atOnce.answer(rooms, cost, pipeline, self.options)
            try StandardOutput.write(self.json ? answer.json.text + "\n" : answer.text)
            if answer.best == nil {
                StandardError.write("a room does not fit on any of the machines. Fix: name larger machines\n")
                throw ExitCode(1)
            }
            return
        }
        if self.fleet { return try self.options.plan(cost, model: model, isJSON: self.json) }
        try StandardOutput.write(self.json ? cost.json.text(pretty: true) + "\n" : cost.text)
    }
}
