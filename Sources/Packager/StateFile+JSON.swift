import HLS
import MediaTypes

extension StateFile {
    /// Largest valid number in a state file, so that the sum of two numbers cannot overflow. A file with a larger one
    /// is damaged.
    static let largestNumber: Int64 = 1 << 52
    /// Maximum size of a state file in bytes; a larger file is damaged. An event playlist needs about 50 bytes for each
    /// segment of each track, and more with I-frame playlists.
    static let mostBytes = 256 << 20

    /// The content of the state file.
    var json: String {
        var text = "{\n"
        text += "\"version\": 1,\n"
        text += "\"origin\": \(self.origin.map(String.init) ?? "null"),\n"
        text += "\"incarnation\": \(self.incarnation),\n"
        text += "\"ended\": \(self.ended),\n"
        text += "\"multivariant\": \"\(self.multivariantName)\",\n"
        text += "\"grid\": {\"fps\": \(self.grid.fps), \"gopFrames\": \(self.grid.gopFrames), "
        text += "\"segmentGops\": \(self.grid.segmentGops), \"partFrames\": \(self.grid.partFrames), "
        text += "\"sampleRate\": \(self.grid.sampleRate)},\n"
        text += "\"nextMediaSequence\": \(self.nextMediaSequence),\n"
        text += "\"nextFrame\": \(self.nextFrame),\n"
        if !self.dateRanges.isEmpty { text += Self.json(self.dateRanges).dropFirst() }
        if let archive = self.archive { text += archive.json }
        if !self.subtitles.isEmpty {
            let rows = self.subtitles.map { "[\"\($0.name)\",\($0.first)]" }
            text += "\"subtitles\": [\(rows.joined(separator: ","))],\n"
        }
        if let reference = self.subtitleReference { text += "\"subtitleReference\": \"\(reference)\",\n" }
        if !self.formerSubtitles.isEmpty {
            let rows = self.formerSubtitles.map { "[\"\($0.name)\",\"\($0.reference)\",\($0.end)]" }
            text += "\"formerSubtitles\": [\(rows.joined(separator: ","))],\n"
        }
        text += "\"tracks\": [" + self.tracks.map(\.json).joined(separator: ",") + "\n]\n}\n"
        return text
    }

    /// Reads a state file.
    ///
    /// - Throws: ``MediaError/Code/invalidData`` for a damaged file, with a remedy.
    init(json bytes: [UInt8], path: String) throws(MediaError) {
        let damaged = MediaError(
            .invalidData, "\(path) is damaged, so the numbers of this room's segments are lost", at: "hls",
            fix: "move the directory away or choose another one")
        guard let root = JSONParser.parse(bytes, limit: Self.mostBytes).faultless,
            root[key: "version"]?.integer == 1,
            let incarnation = root[key: "incarnation"]?.integer, (1...Self.largestNumber).contains(incarnation),
            let ended = root[key: "ended"]?.boolean, let multivariant = root[key: "multivariant"]?.string,
            let grid = root[key: "grid"].flatMap(OutputGrid.init(json:)),
            let nextMediaSequence = root[key: "nextMediaSequence"]?.integer,
            (0...Self.largestNumber).contains(nextMediaSequence),
            let nextFrame = root[key: "nextFrame"]?.integer,
            (0...OutputGrid.lastTick / OutputGrid.ticksPerFrame).contains(nextFrame),
            let origin = root[key: "origin"], origin.isIntegerOrNull, let list = root[key: "tracks"]?.array,
            let ranges = Self.ranges(root[key: "dateRanges"]), let archive = Archive.read(root[key: "archive"]),
            let subtitles = Self.subtitles(root[key: "subtitles"]),
            let formerSubtitles = Self.formerSubtitles(root[key: "formerSubtitles"])
        else { throw damaged }
        let tracks = list.compactMap(Track.init(json:))
        guard tracks.count == list.count else { throw damaged }
        self.init(
            origin: origin.integer, incarnation: incarnation, ended: ended, multivariantName: multivariant, grid: grid,
            nextMediaSequence: nextMediaSequence, nextFrame: nextFrame, tracks: tracks, dateRanges: ranges,
            archive: archive, subtitles: subtitles,
            subtitleReference: root[key: "subtitleReference"]?.string.flatMap { TrackNames.isValid($0) ? $0 : nil },
            formerSubtitles: formerSubtitles)
    }

    /// Reads the former subtitle segments; `nil` if the member is damaged.
    private static func formerSubtitles(_ value: JSONNode?) -> [FormerSubtitles]? {
        guard let value else { return [] }
        guard let rows = value.array else { return nil }
        let formers = rows.compactMap { row -> FormerSubtitles? in
            guard let fields = row.array, fields.count == 3, let name = fields[0].string, TrackNames.isValid(name),
                let reference = fields[1].string, TrackNames.isValid(reference), let end = fields[2].integer,
                (0...Self.largestNumber).contains(end)
            else { return nil }
            return FormerSubtitles(name: name, reference: reference, end: end)
        }
        return formers.count == rows.count ? formers : nil
    }

    /// Reads the subtitle renditions; `nil` if the member is damaged.
    private static func subtitles(_ value: JSONNode?) -> [Subtitles]? {
        guard let value else { return [] }
        guard let rows = value.array else { return nil }
        let subtitles = rows.compactMap { row -> Subtitles? in
            guard let fields = row.array, fields.count == 2, let name = fields[0].string, TrackNames.isValid(name),
                let first = fields[1].integer, (0...Self.largestNumber).contains(first)
            else { return nil }
            return Subtitles(name: name, first: first)
        }
        return subtitles.count == rows.count ? subtitles : nil
    }
}

extension OutputGrid {
    fileprivate init?(json: JSONNode) {
        func number(_ key: String) -> Int? { json[key: key]?.integer.flatMap { Int(exactly: $0) } }
        guard let fps = number("fps"), let gop = number("gopFrames"), let gops = number("segmentGops"),
            let part = number("partFrames"), let rate = number("sampleRate")
        else { return nil }
        do { try self.init(fps: fps, gopFrames: gop, segmentGops: gops, partFrames: part, sampleRate: rate) } catch {
            return nil
        }
    }
}

extension StateFile.Track {
    // Entries are short rows, because an event playlist has one for every segment of the room: [media sequence,
    // incarnation, start, duration, bytes, map, flags: 1 discontinuity, 2 gap, 4 independent], followed by the key
    // frames of an I-frame playlist: start in the segment, offset, bytes.
    fileprivate var json: String {
        var text = "\n{\"name\": \"\(self.name)\", \"discontinuitySequence\": \(self.discontinuitySequence), "
        text += "\"longestDuration\": \(self.longestDuration), "
        if let number = self.iFrameSequence { text += "\"iFrameSequence\": \(number), " }
        if self.isAsleep { text += "\"asleep\": true, " }
        if let rates = self.rates {
            text += "\"rates\": [\(rates.bitrate), \(rates.maxBitrate), \(rates.bufferSize)], "
        }
        text += "\"maps\": [" + self.maps.map { "\"\($0)\"" }.joined(separator: ", ") + "],\n\"entries\": ["
        text += self.entries.map { "\n\($0.json)" }.joined(separator: ",")
        text += "],\n\"retired\": ["
        text += self.retired.map { "\n[\"\($0.uri)\",\($0.map),\($0.deleteAt),\($0.gap),\($0.byteCount)]" }.joined(
            separator: ",")
        return text + "]}"
    }

    fileprivate init?(json: JSONNode) {
        guard let name = json[key: "name"]?.string, TrackNames.isValid(name),
            let discontinuities = json[key: "discontinuitySequence"]?.integer,
            (0...StateFile.largestNumber).contains(discontinuities),
            let longest = json[key: "longestDuration"]?.integer,
            (0...StateFile.largestNumber * 1_000).contains(longest),
            let maps = json[key: "maps"]?.array?.compactMap(\.string), maps.allSatisfy(TrackNames.isValid),
            maps.count == json[key: "maps"]?.array?.count, let entryRows = json[key: "entries"]?.array,
            let retiredRows = json[key: "retired"]?.array,
            (json[key: "iFrameSequence"]?.integer ?? 0) >= 0,
            (json[key: "iFrameSequence"]?.integer ?? 0) < StateFile.largestNumber,
            let rates = Self.rates(json[key: "rates"])
        else { return nil }
        var entries: [StateFile.Entry] = []
        for row in entryRows {
            guard let entry = row.array.flatMap({ StateFile.Entry(row: $0) }), maps.indices.contains(entry.map) else {
                return nil
            }
            entries.append(entry)
        }
        var retired: [StateFile.Retired] = []
        for row in retiredRows {
            guard let fields = row.array, fields.count == 5, let uri = fields[0].string, TrackNames.isValid(uri),
                let map = fields[1].integer, let deleteAt = fields[2].integer, let gap = fields[3].boolean,
                let byteCount = fields[4].integer, byteCount >= 0,
                maps.indices.contains(Int(clamping: map))
            else { return nil }
            retired.append(
                StateFile.Retired(
                    uri: uri, map: Int(clamping: map), deleteAt: deleteAt, gap: gap, byteCount: Int(clamping: byteCount)
                ))
        }
        self.init(
            name: name, maps: maps, discontinuitySequence: discontinuities, longestDuration: longest, entries: entries,
            retired: retired, iFrameSequence: json[key: "iFrameSequence"]?.integer, rates: rates,
            isAsleep: json[key: "asleep"]?.boolean == true)
    }

    /// Reads a track's bit rates.
    ///
    /// - Returns: `nil` if the member is damaged; `.some(nil)` if it is missing.
    private static func rates(_ value: JSONNode?) -> BitRates?? {
        guard let value else { return .some(nil) }
        guard let numbers = value.array?.compactMap(\.integer), numbers.count == 3, value.array?.count == 3,
            numbers.allSatisfy({ (0...StateFile.largestNumber).contains($0) })
        else { return nil }
        return BitRates(bitrate: numbers[0], maxBitrate: numbers[1], bufferSize: numbers[2])
    }
}

extension StateFile.Entry {
    /// Largest valid time in ticks, so that the sum of two times stays far inside 64 bits. A larger one means a damaged
    /// file.
    private static let lastTick: Int64 = 1 << 53
    /// Maximum number of fields in a segment's row. A row with more key frames than the longest segment has frames is
    /// damaged.
    private static let longestRow = 7 + 3 * 18_000

    /// The segment's row; see ``StateFile/Track``.
    var json: String {
        let flags = (self.discontinuity ? 1 : 0) + (self.gap ? 2 : 0) + (self.independent ? 4 : 0)
        return "[\(self.mediaSequence),\(self.incarnation),\(self.start),\(self.duration),"
            + "\(self.byteCount),\(self.map),\(flags)"
            + self.keyFrames.map { ",\($0.start),\($0.offset),\($0.byteCount)" }.joined() + "]"
    }

    /// Reads a segment's row; `nil` if it is damaged.
    init?(row: [JSONNode]) {
        let numbers = row.compactMap(\.integer)
        guard numbers.count == row.count, (7...Self.longestRow).contains(row.count), (row.count - 7).isMultiple(of: 3),
            (0...StateFile.largestNumber).contains(numbers[0]),
            (1...StateFile.largestNumber).contains(numbers[1]),
            (0...Self.lastTick).contains(numbers[2]), (1...Self.lastTick).contains(numbers[3]),
            (0...Int64(Int32.max) * 8).contains(numbers[4]), (0...7).contains(numbers[6])
        else { return nil }
        var keyFrames: [KeyFrame] = []
        for place in stride(from: 7, to: numbers.count, by: 3) {
            let (start, offset, count) = (numbers[place], numbers[place + 1], numbers[place + 2])
            let least = keyFrames.last.map { $0.start + 1 } ?? 0
            guard start >= least, start < numbers[3], (0...Int64(Int32.max)).contains(offset),
                (0...Int64(Int32.max)).contains(count)
            else { return nil }
            keyFrames.append(KeyFrame(start: start, offset: Int(clamping: offset), byteCount: Int(clamping: count)))
        }
        self.init(
            mediaSequence: numbers[0], incarnation: numbers[1], start: numbers[2], duration: numbers[3],
            byteCount: Int(numbers[4]), map: Int(clamping: numbers[5]), discontinuity: numbers[6] & 1 != 0,
            gap: numbers[6] & 2 != 0, independent: numbers[6] & 4 != 0, keyFrames: keyFrames)
    }
}
