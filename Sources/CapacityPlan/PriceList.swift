package import MediaTypes

/// The kinds of machines, and the prices that a provider charges. There are no default prices.
package struct PriceList: Sendable, Hashable {
    /// A kind of machine.
    package struct Machine: Sendable, Hashable {
        package var name: String
        package var size: Fleet.Size
        /// Price of the machine for one hour; `nil`: unknown.
        package var perHour: Double?

        package init(name: String, size: Fleet.Size, perHour: Double? = nil) {
            (self.name, self.size, self.perHour) = (name, size, perHour)
        }
    }

    package var machines: [Machine]
    /// Price of a gigabyte (1,000,000,000 bytes) that machines send; `nil`: unknown.
    package var egressPerGB: Double?
    /// Price of a gigabyte that a CDN sends to viewers; `nil`: unknown.
    package var cdnPerGB: Double?
    /// Price of storing a gigabyte for a month; `nil`: unknown.
    package var storagePerGBMonth: Double?
    /// Name of the currency, for display; empty: none.
    package var currency: String

    package init(
        machines: [Machine], egressPerGB: Double? = nil, cdnPerGB: Double? = nil, storagePerGBMonth: Double? = nil,
        currency: String = ""
    ) {
        self.machines = machines
        (self.egressPerGB, self.cdnPerGB, self.storagePerGBMonth) = (egressPerGB, cdnPerGB, storagePerGBMonth)
        self.currency = currency
    }

    /// The largest accepted price.
    package static let highest = 1e6

    /// Reads a file of prices. Unknown members are refused; `about` is a comment.
    ///
    /// - Throws: ``MediaTypes/MediaError/Code/invalidData`` with the location of the mistake.
    package init(json bytes: [UInt8]) throws(MediaError) {
        guard let root = JSONParser.parse(bytes).faultless else { throw Self.mistake("file", "is not JSON") }
        try Self.check(
            root, "file", ["about", "currency", "machines", "egressPerGB", "cdnPerGB", "storagePerGBMonth"])
        guard let rows = root[key: "machines"]?.array, !rows.isEmpty, rows.count <= 100 else {
            throw Self.mistake("machines", "is not a list of 1 to 100 machines")
        }
        var machines: [Machine] = []
        for (index, row) in rows.enumerated() { machines.append(try Self.machine(row, "machines[\(index)]")) }
        guard Set(machines.map(\.name)).count == machines.count else {
            throw Self.mistake("machines", "has two machines of the same name")
        }
        let currency = root[key: "currency"].map { $0.string ?? "\n" } ?? ""
        guard Self.isLine(currency, most: 8) else {
            throw Self.mistake("currency", "is not a text of up to 8 characters")
        }
        self.init(
            machines: machines, egressPerGB: try Self.price(root[key: "egressPerGB"], "egressPerGB"),
            cdnPerGB: try Self.price(root[key: "cdnPerGB"], "cdnPerGB"),
            storagePerGBMonth: try Self.price(root[key: "storagePerGBMonth"], "storagePerGBMonth"), currency: currency)
    }

    private static func machine(_ row: JSONNode, _ place: String) throws(MediaError) -> Machine {
        try self.check(row, place, ["name", "cores", "memoryGiB", "networkMbits", "pricePerHour"])
        guard let name = row[key: "name"]?.string, !name.isEmpty, self.isLine(name, most: 40) else {
            throw self.mistake("\(place).name", "is not a text of 1 to 40 characters")
        }
        func number(_ key: String, _ range: ClosedRange<Int64>) throws(MediaError) -> Int64 {
            guard let value = row[key: key]?.integer, range.contains(value) else {
                throw self.mistake(
                    "\(place).\(key)", "is not an integer from \(range.lowerBound) to \(range.upperBound)")
            }
            return value
        }
        let size = Fleet.Size(
            millicores: try number("cores", 1...1_024) * 1_000, memory: try number("memoryGiB", 1...65_536) << 30,
            network: try number("networkMbits", 1...10_000_000) * 1_000_000)
        return Machine(
            name: name, size: size, perHour: try self.price(row[key: "pricePerHour"], "\(place).pricePerHour"))
    }

    private static func check(_ node: JSONNode, _ place: String, _ known: [String]) throws(MediaError) {
        guard case .object(let members) = node.content else { throw self.mistake(place, "is not an object") }
        for member in members where !known.contains(member.key) {
            throw self.mistake("\(place).\(member.key)", "is unknown; known are \(known.joined(separator: ", "))")
        }
    }

    private static func price(_ node: JSONNode?, _ place: String) throws(MediaError) -> Double? {
        let value: Double? =
            switch node?.content {
            case nil: nil
            case .integer(let number)?: Double(number)
            case .number(let number)?: number
            default: -1
            }
        guard let value else { return nil }
        guard (0...self.highest).contains(value) else {
            throw self.mistake(place, "is not a price from 0 to \(Int(self.highest))")
        }
        return value
    }

    private static func isLine(_ text: String, most: Int) -> Bool {
        text.unicodeScalars.count <= most && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }
    }

    private static func mistake(_ place: String, _ what: String) -> MediaError {
        MediaError(.invalidData, what, at: "prices: \(place)", fix: "see examples/plan/prices.example.json")
    }
}
