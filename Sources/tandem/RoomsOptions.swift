import ArgumentParser
import CapacityPlan
import MediaTypes
import PipelineSpec

/// Options of `tandem plan --rooms`.
struct RoomsOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Estimate what this many rooms at the same time need and cost.", valueName: "n"))
    var rooms: Int?

    @Option(help: ArgumentHelp("How long each room lasts (default: 1).", valueName: "hours"))
    var hours: Double?

    @Option(help: ArgumentHelp("Viewers of each room that a CDN serves (default: 0).", valueName: "n"))
    var cdnViewers: Int?

    @Option(help: ArgumentHelp("How long recordings are stored (default: 30).", valueName: "days"))
    var keptDays: Int?

    @Option(
        help: ArgumentHelp(
            "File with machines and prices (examples/plan/prices.example.json); replaces the options of machines.",
            valueName: "file"))
    var prices: String?

    @Option(help: ArgumentHelp("Price of a machine for an hour.", valueName: "price"))
    var machinePrice: Double?

    @Option(help: ArgumentHelp("Price of a gigabyte that machines send.", valueName: "price"))
    var egressPrice: Double?

    @Option(help: ArgumentHelp("Price of a gigabyte that a CDN sends.", valueName: "price"))
    var cdnPrice: Double?

    @Option(help: ArgumentHelp("Price of storing a gigabyte for a month.", valueName: "price"))
    var storagePrice: Double?

    @Option(help: ArgumentHelp("Name of the currency, for display.", valueName: "name"))
    var currency: String?

    func validate() throws {
        if let rooms = self.rooms, !(1...RoomsAtOnce.mostRooms).contains(rooms) {
            throw ValidationError("--rooms \(rooms): give 1 to \(RoomsAtOnce.mostRooms)")
        }
        if let hours = self.hours, !(1.0 / 60...Double(RoomsAtOnce.mostMinutes / 60)).contains(hours) {
            throw ValidationError("--hours \(hours): give 0.0167 to \(RoomsAtOnce.mostMinutes / 60)")
        }
        if let viewers = self.cdnViewers, !(0...RoomsAtOnce.mostViewers).contains(viewers) {
            throw ValidationError("--cdn-viewers \(viewers): give 0 to \(RoomsAtOnce.mostViewers)")
        }
        if let days = self.keptDays, !(0...36_500).contains(days) {
            throw ValidationError("--kept-days \(days): give 0 to 36500")
        }
        let given = [
            ("--hours", self.hours != nil), ("--cdn-viewers", self.cdnViewers != nil),
            ("--kept-days", self.keptDays != nil), ("--prices", self.prices != nil),
            ("--machine-price", self.machinePrice != nil), ("--egress-price", self.egressPrice != nil),
            ("--cdn-price", self.cdnPrice != nil), ("--storage-price", self.storagePrice != nil),
            ("--currency", self.currency != nil),
        ]
        if self.rooms == nil, let option = given.first(where: { $0.1 })?.0 {
            throw ValidationError("\(option) is for --rooms")
        }
        for (name, price) in [
            ("--machine-price", self.machinePrice), ("--egress-price", self.egressPrice),
            ("--cdn-price", self.cdnPrice),
            ("--storage-price", self.storagePrice),
        ] {
            guard let price else { continue }
            guard (0...PriceList.highest).contains(price) else {
                throw ValidationError("\(name) \(price): give 0 to \(Int(PriceList.highest))")
            }
            guard self.prices == nil else { throw ValidationError("give \(name) or --prices, not both") }
        }
        if let currency = self.currency, !(1...8).contains(currency.count) || self.prices != nil {
            throw ValidationError("--currency \(currency): give up to 8 characters, without --prices")
        }
    }

    /// Estimates what `rooms` rooms of a pipeline need and cost.
    ///
    /// - Throws: `ExitCode` 65 or 66 for a file of prices that cannot be used.
    func answer(_ rooms: Int, _ cost: RoomCost, _ pipeline: Pipeline, _ machine: FleetOptions) throws -> RoomsAtOnce {
        var answer = RoomsAtOnce(
            rooms: rooms, minutes: max(1, Int(((self.hours ?? 1) * 60).rounded())), cost: cost, pipeline: pipeline,
            prices: try self.priceList(machine))
        answer.spare = machine.spare ?? FleetOptions.usualSpare
        answer.cdnViewers = self.cdnViewers ?? 0
        answer.keptDays = self.keptDays ?? answer.keptDays
        return answer
    }

    private func priceList(_ machine: FleetOptions) throws -> PriceList {
        guard let file = self.prices else {
            let name = "\(machine.cores) cores, \(machine.memory) GiB, \(machine.network) Mbit/s"
            return PriceList(
                machines: [PriceList.Machine(name: name, size: machine.machine, perHour: self.machinePrice)],
                egressPerGB: self.egressPrice, cdnPerGB: self.cdnPrice, storagePerGBMonth: self.storagePrice,
                currency: self.currency ?? "")
        }
        let bytes = try PipelineLoading.read(file)
        do throws(MediaError) {
            return try PriceList(json: bytes)
        } catch {
            StandardError.write("\(file): \(error)\n")
            throw ExitStatus.pipelineInvalid.code
        }
    }
}
