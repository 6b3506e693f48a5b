package import MediaTypes

/// Recognizes packets with which a key frame begins, without reading the frame.
package enum KeyFrameStart {
    /// Whether a key frame can begin with this payload.
    ///
    /// Spec: RFC 6184 §5.4 (H.264), RFC 7741 §4 (VP8), RFC 9628 §4.2 (VP9). For H.264, an SPS counts, since it
    /// precedes the IDR frame. Always true for codecs other than these three.
    package static func isAt(_ payload: ArraySlice<UInt8>, codec: CodecName) -> Bool {
        switch codec {
        case .h264: self.isH264(payload)
        case .vp8: self.isVP8(payload)
        case .vp9: self.isVP9(payload)
        default: true
        }
    }

    private static func isH264(_ payload: ArraySlice<UInt8>) -> Bool {
        guard let first = payload.first else { return false }
        let isStart = { (header: UInt8) in header & 0x1F == 5 || header & 0x1F == 7 }
        switch first & 0x1F {
        case 24:
            var at = payload.startIndex + 1
            while at + 2 < payload.endIndex {
                if isStart(payload[at + 2]) { return true }
                at += 2 + (Int(payload[at]) << 8 | Int(payload[at + 1]))
            }
            return false
        case 28:
            guard payload.count >= 2 else { return false }
            let header = payload[payload.startIndex + 1]
            return header & 0x80 != 0 && isStart(header)
        default: return isStart(first)
        }
    }

    private static func isVP8(_ payload: ArraySlice<UInt8>) -> Bool {
        // S: start of a partition; PID: partition 0.
        guard let first = payload.first, first & 0x10 != 0, first & 0x07 == 0 else { return false }
        var at = payload.startIndex + 1
        if first & 0x80 != 0 {
            guard at < payload.endIndex else { return false }
            let flags = payload[at]
            at += 1
            if flags & 0x80 != 0 {
                guard at < payload.endIndex else { return false }
                at += payload[at] & 0x80 != 0 ? 2 : 1
            }
            if flags & 0x40 != 0 { at += 1 }
            if flags & 0x30 != 0 { at += 1 }
        }
        // P bit of the frame header: 0 for key frames.
        return at < payload.endIndex && payload[at] & 1 == 0
    }

    private static func isVP9(_ payload: ArraySlice<UInt8>) -> Bool {
        // B: beginning of a frame; P: predicted from other frames.
        guard let first = payload.first, first & 0x08 != 0, first & 0x40 == 0 else { return false }
        guard first & 0x20 != 0 else { return true }
        var at = payload.startIndex + 1
        if first & 0x80 != 0 {
            guard at < payload.endIndex else { return false }
            at += payload[at] & 0x80 != 0 ? 2 : 1
        }
        // Spatial layer 0.
        return at < payload.endIndex && payload[at] >> 1 & 7 == 0
    }
}
