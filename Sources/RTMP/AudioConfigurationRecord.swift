import MediaTypes

/// The configuration record of an audio sequence start, in the form that decoders and relays get.
enum AudioConfigurationRecord {
    /// Length of a STREAMINFO block without its header, in bytes (RFC 9639 §8.2).
    private static let streamInfo = 34
    /// "fLaC", and the header of a STREAMINFO block that is the last block (§8.1).
    private static let flacHead = Array("fLaC".utf8) + [0x80, 0, 0, 34]

    /// Converts the record of a sequence start to the form for decoders; nil if the record is not valid.
    static func read(_ record: [UInt8], of codec: CodecName) -> [UInt8]? {
        switch codec {
        case .aac: return AudioSpecificConfig(record: record) != nil ? record : nil
        case .opus:
            // RFC 7845 §5.1. An empty record is allowed and means stereo.
            let isHead = record.count >= 19 && record.starts(with: "OpusHead".utf8) && (1...8).contains(record[9])
            return record.isEmpty || isHead ? record : nil
        case .flac: return self.flac(record)
        default: return record
        }
    }

    /// Extracts the STREAMINFO block from a FLAC configuration. Enhanced RTMP requires the beginning of a stream:
    /// "fLaC" and its metadata blocks. FFmpeg sends only STREAMINFO. Decoders do not need the other blocks, such as
    /// pictures and comments.
    private static func flac(_ record: [UInt8]) -> [UInt8]? {
        if record.count == self.streamInfo { return self.isStreamInfo(record[...]) ? self.flacHead + record : nil }
        guard record.count >= self.flacHead.count + self.streamInfo, record.starts(with: "fLaC".utf8),
            record[4] & 0x7F == 0, record[5...7].elementsEqual([0, 0, UInt8(self.streamInfo)])
        else { return nil }
        let information = record[self.flacHead.count...].prefix(self.streamInfo)
        return self.isStreamInfo(information) ? self.flacHead + information : nil
    }

    /// Returns whether the bytes are a usable STREAMINFO block: RFC 9639 §8.2 requires blocks of at least 16 samples,
    /// and without a sample rate frames have no duration.
    private static func isStreamInfo(_ bytes: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(bytes)
        guard bytes.count == self.streamInfo else { return false }
        let least = Int(bytes[0]) << 8 | Int(bytes[1])
        let most = Int(bytes[2]) << 8 | Int(bytes[3])
        let rate = Int(bytes[10]) << 12 | Int(bytes[11]) << 4 | Int(bytes[12]) >> 4
        return least >= 16 && most >= least && rate > 0
    }
}
