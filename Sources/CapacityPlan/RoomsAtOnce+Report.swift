package import MediaTypes

extension RoomsAtOnce {
    /// The estimate as text for people, with a final line break.
    package var text: String {
        var lines = ["\(self.rooms) rooms at once, \(Self.duration(self.minutes)) each"]
        lines += Self.table([
            ["", "one room", "all rooms"],
            ["cores", Self.cores(self.cost.peakMillicores), Self.cores(self.all(self.cost.peakMillicores))],
            ["memory", Self.bytes(self.cost.memoryBytes), Self.bytes(self.all(self.cost.memoryBytes))],
            ["in", Self.bits(self.cost.ingressBitsPerSecond), Self.bits(self.all(self.cost.ingressBitsPerSecond))],
            ["out", Self.bits(self.cost.egressBitsPerSecond), Self.bits(self.all(self.cost.egressBitsPerSecond))],
            ["window on disk", Self.bytes(self.cost.windowBytes), Self.bytes(self.windowBytes)],
            ["sent", "", Self.gigabytes(self.sentBytes)], ["sent by a CDN", "", Self.gigabytes(self.cdnBytes)],
            ["recorded", "", Self.gigabytes(self.recordedBytes)],
        ])
        lines.append("viewers of each room: \(self.cost.viewers) at its own listener, \(self.cdnViewers) through a CDN")
        lines.append("")
        lines += Self.table(
            [["machine", "rooms each", "limited by", "machines", "price"]]
                + self.fits.map { fit in
                    guard fit.machines > 0 else {
                        return [fit.machine.name, "0", fit.limit, "a room does not fit", ""]
                    }
                    return [
                        fit.machine.name, "\(fit.roomsPerMachine)", fit.limit,
                        "\(fit.machines), \(self.spare) of them spare", self.money(fit.price),
                    ]
                })
        lines.append("")
        let bill = self.bill
        lines += Self.table([
            [
                "machines", self.money(bill.machines),
                self.best.map { "\($0.machines) × \($0.machine.name)" } ?? "none fits",
            ],
            ["egress", self.money(bill.egress), Self.gigabytes(self.sentBytes)],
            ["CDN", self.money(bill.cdn), Self.gigabytes(self.cdnBytes)],
            ["storage", self.money(bill.storage), "\(Self.gigabytes(self.recordedBytes)) for \(self.keptDays) days"],
            ["total", self.money(bill.total), "one room for an hour: \(self.money(self.perRoomHour))"],
        ])
        if bill.total == nil {
            lines.append("A price that is not known is shown as ?: give it in --prices FILE or as an option (--help).")
        }
        lines.append("measured on \(self.cost.machine)")
        return lines.map { $0 + "\n" }.joined()
    }

    /// The estimate as JSON for programs. Prices are rounded to thousandths.
    package var json: JSONValue {
        let bill = self.bill
        return [
            "rooms": JSONValue(self.rooms), "minutes": JSONValue(self.minutes), "viewers": JSONValue(self.cost.viewers),
            "cdnViewers": JSONValue(self.cdnViewers),
            "cpuMillicores": .integer(self.all(self.cost.peakMillicores)),
            "memoryBytes": .integer(self.all(self.cost.memoryBytes)),
            "ingressBitsPerSecond": .integer(self.all(self.cost.ingressBitsPerSecond)),
            "egressBitsPerSecond": .integer(self.all(self.cost.egressBitsPerSecond)),
            "windowBytes": .integer(self.windowBytes), "sentBytes": .integer(self.sentBytes),
            "cdnBytes": .integer(self.cdnBytes), "recordedBytes": .integer(self.recordedBytes),
            "keptDays": JSONValue(self.keptDays),
            "machines": .array(
                self.fits.map { fit in
                    [
                        "name": .string(fit.machine.name), "roomsPerMachine": JSONValue(fit.roomsPerMachine),
                        "limit": .string(fit.limit), "machines": JSONValue(fit.machines),
                        "spare": JSONValue(self.spare),
                        "price": Self.price(fit.price),
                    ]
                }),
            "best": JSONValue(self.best?.machine.name), "currency": .string(self.prices.currency),
            "price": [
                "machines": Self.price(bill.machines), "egress": Self.price(bill.egress), "cdn": Self.price(bill.cdn),
                "storage": Self.price(bill.storage), "total": Self.price(bill.total),
                "perRoomHour": Self.price(self.perRoomHour),
            ],
            "measuredOn": .string(self.cost.machine),
        ]
    }

    /// Rounds to an integer and clamps, because sums of the highest prices do not fit into 64 bits.
    private static func rounded(_ value: Double) -> Int64 { Int64(min(value, 9e18).rounded()) }

    private static func price(_ value: Double?) -> JSONValue {
        value.map { .thousandths(Self.rounded($0 * 1_000)) } ?? .null
    }

    private func money(_ value: Double?) -> String {
        guard let value else { return "?" }
        // Small prices, such as those of one room, keep four decimals.
        let (scale, places): (Double, Int) = value < 10 ? (10_000, 4) : (100, 2)
        let number = Self.decimal(Self.rounded(value * scale), places: places)
        return self.prices.currency.isEmpty ? number : "\(number) \(self.prices.currency)"
    }

    private static func decimal(_ number: Int64, places: Int) -> String {
        let scale = (0..<places).reduce(Int64(1)) { product, _ in product * 10 }
        return "\(number / scale).\(String(number % scale + scale).dropFirst())"
    }

    private static func cores(_ milli: Int64) -> String {
        self.decimal(TimeMath.scale(milli, by: 1, over: 10), places: 2)
    }

    private static func bytes(_ count: Int64) -> String {
        count < 10 << 30
            ? "\((count + (1 << 20) - 1) >> 20) MiB" : "\(self.decimal(((count >> 20) * 10) >> 10, places: 1)) GiB"
    }

    private static func bits(_ count: Int64) -> String {
        "\(self.decimal(TimeMath.scale(count, by: 1, over: 10_000), places: 2)) Mbit/s"
    }

    private static func gigabytes(_ count: Int64) -> String {
        "\(self.decimal(count / 10_000_000 + (count % 10_000_000 >= 5_000_000 ? 1 : 0), places: 2)) GB"
    }

    private static func duration(_ minutes: Int) -> String {
        minutes.isMultiple(of: 60) ? "\(minutes / 60) h" : "\(minutes) min"
    }

    /// Formats rows as lines with aligned columns.
    private static func table(_ rows: [[String]]) -> [String] {
        let widths = (0..<(rows.map(\.count).max() ?? 0)).map { column in
            rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                cell + String(repeating: " ", count: widths[column] - cell.count)
            }
            var line = cells.joined(separator: "  ")
            while line.hasSuffix(" ") { line.removeLast() }
            return line
        }
    }
}
