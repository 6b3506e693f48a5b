import MediaTypes

/// The properties read from an initialization segment. Spec: rfc8216bis §3.1.2, ISO/IEC 14496-12 §8.
struct InitializationFacts: Sendable {
    struct Track: Sendable {
        let id: UInt32
        let timescale: Int64
        let isVideo: Bool
        /// Four-character code of the sample entry.
        let entry: String
        /// RFC 6381 codec string; `nil` for H.265 and for codecs that are not read.
        let codec: String?
        let width: Int64
        let height: Int64
        /// Size of a NAL unit's length field in bytes; 0 if the samples are not NAL units.
        let lengthSize: Int
        /// `AVCDecoderConfigurationRecord` of unencrypted H.264 samples; empty for other media.
        let configuration: [UInt8]
        /// Whether the samples are encrypted, so that their bytes cannot be checked.
        let isProtected: Bool
        /// Number of audio channels of AAC and Opus; `nil` if the sample entry does not contain it, and for other codecs.
        let channels: Int64?
        /// Whether the audio is certainly AAC-LC: its frames cannot contain spectral band replication, not even with
        /// implicit signaling.
        let isPlainAAC: Bool
        /// Number of ticks that the edit list subtracts from presentation times. Spec: ISO/IEC 14496-12 §8.6.6.
        let presentationShift: Int64
        /// Default sample duration from `trex`, in ticks.
        let defaultDuration: UInt32
        let defaultSize: UInt32
        let defaultFlags: UInt32
    }

    private(set) var tracks: [Track] = []
    private(set) var faults: [PlaylistFault] = []

    /// Reads an initialization segment.
    ///
    /// - Returns: `nil` for bytes that are not boxes or have no track.
    init?(_ bytes: [UInt8]) {
        let reader = BoxReader(bytes: bytes)
        guard let top = reader.boxes(in: 0..<bytes.count), let moov = top.first(where: { $0.type == "moov" }),
            let children = reader.boxes(in: moov.body)
        else { return nil }
        self.checkBrands(reader, top.first { $0.type == "ftyp" })
        let defaults = Self.defaults(reader, moov)
        if defaults.isEmpty { self.faults.append(PlaylistFault(.mapUnreadable, "there is no mvex with a trex")) }
        if let header = children.first(where: { $0.type == "mvhd" }) { self.checkDuration(reader, header, at: 12, 20) }
        for box in children where box.type == "trak" {
            guard let track = self.track(reader, box, defaults) else { continue }
            self.tracks.append(track)
        }
        if self.tracks.isEmpty { return nil }
    }

    private mutating func checkBrands(_ reader: BoxReader, _ box: BoxReader.Box?) {
        var brands: [String] = []
        if let box {
            for offset in stride(from: box.body.lowerBound, to: box.body.upperBound - 3, by: 4)
            where offset != box.body.lowerBound + 4 {
                brands.append(String(decoding: reader.bytes[offset..<(offset + 4)], as: UTF8.self))
            }
        }
        let known: Set<String> = ["iso6", "iso7", "iso8", "iso9", "isoa", "isob", "isoc", "cmfc", "cmf2"]
        if known.isDisjoint(with: brands) {
            self.faults.append(PlaylistFault(.mapBrand, "its brands are \(brands.joined(separator: " "))"))
        }
    }

    private static func defaults(_ reader: BoxReader, _ moov: BoxReader.Box) -> [UInt32: [UInt32]] {
        var result: [UInt32: [UInt32]] = [:]
        guard let mvex = reader.first(["mvex"], in: moov.body) else { return result }
        for box in reader.boxes(in: mvex.body) ?? [] where box.type == "trex" {
            guard let id = reader.u32(box.body.lowerBound + 4) else { continue }
            result[id] = (0..<4).map { reader.u32(box.body.lowerBound + 8 + 4 * $0) ?? 0 }
        }
        return result
    }

    /// Checks that the header of the movie has no duration.
    ///
    /// - Parameters:
    ///   - short: Offset of the field before the duration in a header of version 0, relative to the header's body.
    ///   - long: The same offset in a header of version 1.
    private mutating func checkDuration(_ reader: BoxReader, _ box: BoxReader.Box, at short: Int, _ long: Int) {
        let isLong = reader.u8(box.body.lowerBound) == 1
        let duration = reader.number(box.body.lowerBound + (isLong ? long + 4 : short + 4), isLong ? 8 : 4) ?? 0
        // A value with all bits set means that the duration is unknown.
        if duration != 0, duration != (isLong ? .max : UInt64(UInt32.max)) {
            self.faults.append(PlaylistFault(.mapNotEmpty, "\(box.type) has the duration \(duration)"))
        }
    }

    private mutating func track(_ reader: BoxReader, _ trak: BoxReader.Box, _ defaults: [UInt32: [UInt32]]) -> Track? {
        guard let tkhd = reader.first(["tkhd"], in: trak.body),
            let mdhd = reader.first(["mdia", "mdhd"], in: trak.body),
            let hdlr = reader.first(["mdia", "hdlr"], in: trak.body),
            let table = reader.first(["mdia", "minf", "stbl"], in: trak.body),
            let stsd = reader.first(["stsd"], in: table.body)
        else { return nil }
        let isLongHeader = reader.u8(tkhd.body.lowerBound) == 1
        guard let id = reader.u32(tkhd.body.lowerBound + (isLongHeader ? 20 : 12)),
            let timescale = reader.u32(mdhd.body.lowerBound + (reader.u8(mdhd.body.lowerBound) == 1 ? 20 : 12)),
            timescale > 0, let handler = reader.number(hdlr.body.lowerBound + 8, 4),
            let entry = reader.boxes(in: min(stsd.body.lowerBound + 8, stsd.body.upperBound)..<stsd.body.upperBound)?
                .first
        else { return nil }
        self.checkTables(reader, table)
        let isVideo = handler == 0x7669_6465
        let coding = SampleEntryFacts(reader, entry, isVideo: isVideo)
        let trex = defaults[id] ?? [0, 0, 0, 0]
        return Track(
            id: id, timescale: Int64(timescale), isVideo: isVideo, entry: coding.entry, codec: coding.codec,
            width: coding.width, height: coding.height, lengthSize: coding.lengthSize,
            configuration: coding.configuration, isProtected: coding.isProtected, channels: coding.channels,
            isPlainAAC: coding.isPlainAAC, presentationShift: Self.shift(reader, trak), defaultDuration: trex[1],
            defaultSize: trex[2], defaultFlags: trex[3])
    }

    /// Returns the media time of the first edit that is not empty, in ticks; 0 if there is none.
    private static func shift(_ reader: BoxReader, _ trak: BoxReader.Box) -> Int64 {
        guard let list = reader.first(["edts", "elst"], in: trak.body), let count = reader.u32(list.body.lowerBound + 4)
        else { return 0 }
        let isLong = reader.u8(list.body.lowerBound) == 1
        for index in 0..<Int(min(count, 4)) {
            let entry = list.body.lowerBound + 8 + index * (isLong ? 20 : 12)
            guard let time = reader.number(entry + (isLong ? 8 : 4), isLong ? 8 : 4) else { return 0 }
            // A value with all bits set marks an empty edit.
            if time == (isLong ? UInt64.max : UInt64(UInt32.max)) { continue }
            return time < 1 << 40 ? Int64(time) : 0
        }
        return 0
    }

    private mutating func checkTables(_ reader: BoxReader, _ table: BoxReader.Box) {
        for (type, offset) in [("stts", 4), ("stsc", 4), ("stco", 4), ("stsz", 8)] {
            guard let box = reader.first([type], in: table.body) else { continue }
            if let count = reader.u32(box.body.lowerBound + offset), count > 0 {
                self.faults.append(PlaylistFault(.mapNotEmpty, "\(type) has \(count) entries"))
            }
        }
    }
}

/// The properties read from a sample entry. Spec: ISO/IEC 14496-12 §12, ISO/IEC 14496-15 §5.4, ISO/IEC 14496-14 §5.6;
/// RFC 6381.
struct SampleEntryFacts: Sendable {
    /// Four-character code of the sample entry; for protected samples that of the original format (ISO/IEC 14496-12
    /// §8.12.2).
    let entry: String
    var codec: String?
    var width: Int64 = 0
    var height: Int64 = 0
    var lengthSize = 0
    var configuration: [UInt8] = []
    let isProtected: Bool
    var channels: Int64?
    var isPlainAAC = false

    init(_ reader: BoxReader, _ entry: BoxReader.Box, isVideo: Bool) {
        let start = entry.body.lowerBound
        let header = isVideo ? 78 : 28
        let children =
            start + header <= entry.body.upperBound
            ? reader.boxes(in: (start + header)..<entry.body.upperBound) ?? [] : []
        if isVideo {
            self.width = Int64(reader.u16(start + 24) ?? 0)
            self.height = Int64(reader.u16(start + 26) ?? 0)
        }
        self.isProtected = ["encv", "enca"].contains(entry.type)
        if ["encv", "enca"].contains(entry.type), let protection = children.first(where: { $0.type == "sinf" }),
            let original = reader.first(["frma"], in: protection.body), original.body.count >= 4
        {
            self.entry = String(decoding: reader.bytes[original.body].prefix(4), as: UTF8.self)
        } else {
            self.entry = entry.type
        }
        switch self.entry {
        case "avc1", "avc3":
            guard let box = children.first(where: { $0.type == "avcC" }), box.body.count >= 7 else { return }
            let record = Array(reader.bytes[box.body])
            self.codec = "\(self.entry)." + record[1...3].map(Self.hex).joined()
            self.lengthSize = Int(record[4] & 3) + 1
            if !self.isProtected { self.configuration = record }
            if let parameters = SequenceParameterSet(record: record) {
                self.width = Int64(parameters.width)
                self.height = Int64(parameters.height)
            }
        case "hvc1", "hev1":
            guard let box = children.first(where: { $0.type == "hvcC" }) else { return }
            self.lengthSize = Int((reader.u8(box.body.lowerBound + 21) ?? 3) & 3) + 1
        case "mp4a":
            guard let box = children.first(where: { $0.type == "esds" }) else { return }
            guard let info = DecoderSpecificInfo.read(esds: Array(reader.bytes[box.body])) else { return }
            self.codec = Self.audioObjectType(info).map { "mp4a.40.\($0)" }
            guard let audio = AudioFacts(info) else { return }
            self.channels = audio.channels
            self.isPlainAAC = audio.isPlain
        case "Opus" where children.contains { $0.type == "dOps" }:
            self.codec = "opus"
            // Spec: Encapsulation of Opus in ISO Base Media File Format §4.3.2: version, OutputChannelCount.
            self.channels = children.first { $0.type == "dOps" }.flatMap { reader.u8($0.body.lowerBound + 1) }.map {
                Int64($0)
            }
        case "Opus", "fLaC", "ac-3", "ec-3": self.codec = self.entry == "Opus" ? "opus" : self.entry
        default: break
        }
    }

    private static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    /// Returns the audio object type of an `AudioSpecificConfig`. Spec: ISO/IEC 14496-3 §1.6.2.1.
    private static func audioObjectType(_ info: [UInt8]) -> Int? {
        guard info.count >= 2 else { return nil }
        let type = Int(info[0] >> 3)
        return type == 31 ? 32 + Int(info[0] & 7) << 3 + Int(info[1] >> 5) : type
    }
}

/// The properties read from an `AudioSpecificConfig`: the number of channels, and whether frames may contain spectral
/// band replication (SBR). Spec: ISO/IEC 14496-3 §1.6.2.1, §1.6.5, §4.4.1.
struct AudioFacts: Sendable, Hashable {
    /// Number of channels; `nil` if only the frames themselves describe their channels, or for a reserved value.
    let channels: Int64?
    /// Whether the audio is AAC-LC that no decoder treats as HE-AAC: the configuration rules out SBR, or the sample
    /// rate is too high for it.
    let isPlain: Bool

    /// Highest sample rate in Hz of an AAC core that SBR may double: 48 kHz is the highest rate of HE-AAC in use.
    private static let highestCore = 24_000

    /// Reads an `AudioSpecificConfig`.
    ///
    /// - Returns: `nil` if the bytes end early or have a reserved sample rate.
    init?(_ bytes: [UInt8]) {
        var reader = BitReader(bytes)
        guard let short = reader.bits(5) else { return nil }
        let type = short == 31 ? reader.bits(6).map { $0 + 32 } : short
        guard let type, let index = reader.bits(4) else { return nil }
        let rates = AudioSpecificConfig.sampleRates
        let rate = index == 15 ? reader.bits(24).map(Int.init) : rates.dropFirst(Int(index)).first
        guard let rate, let layout = reader.bits(4) else { return nil }
        // Spec: Table 1.19.
        let counts: [UInt32: Int64] = [7: 8, 11: 7, 12: 8, 13: 24, 14: 8]
        self.channels = counts[layout] ?? ((1...6).contains(layout) ? Int64(layout) : nil)
        guard type == 2 else {
            self.isPlain = false
            return
        }
        self.isPlain = Self.replication(&reader, hasLayout: layout != 0).map { !$0 } ?? (rate > Self.highestCore)
    }

    /// Returns `sbrPresentFlag` of the extension after the core's configuration; `nil` if there is no extension.
    ///
    /// - Parameter hasLayout: Whether the channel configuration is not 0. With 0, a program config element comes before
    ///   the extension; it is not parsed, and the result is `nil`.
    private static func replication(_ reader: inout BitReader, hasLayout: Bool) -> Bool? {
        guard hasLayout, reader.flag() != nil, let depends = reader.flag() else { return nil }
        if depends { _ = reader.bits(14) }
        guard reader.flag() != nil, reader.bits(11) == 0x2B7, reader.bits(5) == 5 else { return nil }
        return reader.flag()
    }
}
