package import MediaTypes

/// Reads the channel layout of an audio track, which Enhanced RTMP sends in addition to the codec's configuration.
///
/// Spec: Enhanced RTMP v2, `ExAudioTagBody`: `audioChannelOrder` UI8 (0 unspecified, 1 native, 2 custom), `channelCount` UI8,
/// then depending on the order: 0, nothing; 1, `audioChannelFlags` UI32; 2, `audioChannelMapping` UI8 per channel.
package enum MultichannelConfig {
    /// Bits of `AudioChannelMask` that are defined.
    private static let defined = UInt32(1) << UInt32(ChannelLayout.Speaker.allCases.count) - 1
    /// Values of channels without a loudspeaker: `AudioChannel.Unused` and `.Unknown`.
    private static let silent: ClosedRange<UInt8> = 0xFE...0xFF

    /// Reads a channel layout.
    ///
    /// - Returns: nil for bytes that are truncated, contradict themselves, or name more than
    ///   ``ChannelLayout/maximumChannels`` channels or an undefined loudspeaker.
    package static func read(_ bytes: [UInt8]) -> ChannelLayout? {
        guard bytes.count >= 2 else { return nil }
        let count = Int(bytes[1])
        let rest = bytes.dropFirst(2)
        switch bytes[0] {
        case 0: return ChannelLayout([ChannelLayout.Speaker?](repeating: nil, count: min(count, 255)))
        case 1:
            guard rest.count >= 4 else { return nil }
            let mask = rest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            guard mask & ~self.defined == 0, mask.nonzeroBitCount == count else { return nil }
            return ChannelLayout(ChannelLayout.Speaker.allCases.filter { mask >> UInt32($0.rawValue) & 1 == 1 })
        case 2:
            guard rest.count >= count else { return nil }
            var speakers: [ChannelLayout.Speaker?] = []
            for number in rest.prefix(count) {
                let speaker = ChannelLayout.Speaker(rawValue: number)
                guard speaker != nil || self.silent.contains(number), speaker == nil || !speakers.contains(speaker)
                else { return nil }
                speakers.append(speaker)
            }
            return ChannelLayout(speakers)
        default: return nil
        }
    }

    /// Adds the layout to the parameters where it makes a difference: for an Opus stream without an ID header, as a
    /// header if ``opusHead(_:)`` makes one; for one whose header does not define the channels (mapping family 2 and
    /// above). All other codecs describe their layout themselves.
    package static func apply(_ layout: ChannelLayout, to parameters: CodecParameters) -> CodecParameters {
        guard parameters.codec == .opus else { return parameters }
        let record = parameters.configuration
        if record.isEmpty, let head = self.opusHead(layout) {
            return CodecParameters(codec: .opus, configuration: head)
        }
        guard record.isEmpty || (record.count > 18 && record[18] > 1) else { return parameters }
        var parameters = parameters
        parameters.layout = layout.isUnspecified ? nil : layout
        return parameters
    }

    /// Returns the ID header of an Opus stream that arrived without one, as encoders of more than two channels write
    /// it: mapping family 1, with each pair of loudspeakers in one coded stream.
    ///
    /// Spec: RFC 7845 §5.1, §5.1.1.2.
    ///
    /// - Returns: nil for one or two channels, which need no header, and for loudspeakers in another than the native
    ///   order.
    package static func opusHead(_ layout: ChannelLayout) -> [UInt8]? {
        // Number of streams, how many of them are stereo, and the channel mapping.
        let forms: [Int: (streams: UInt8, pairs: UInt8, mapping: [UInt8])] = [
            3: (2, 1, [0, 2, 1]), 4: (2, 2, [0, 1, 2, 3]), 5: (3, 2, [0, 4, 1, 2, 3]), 6: (4, 2, [0, 4, 1, 2, 3, 5]),
            7: (4, 3, [0, 4, 1, 2, 3, 5, 6]), 8: (5, 3, [0, 6, 1, 2, 3, 4, 5, 7]),
        ]
        let known = layout.speakers.compactMap { $0?.rawValue }
        guard let form = forms[layout.speakers.count],
            layout.isUnspecified || (known.count == layout.speakers.count && known == known.sorted())
        else { return nil }
        // Version, channels, 312 samples to skip, 48 kHz, no gain, family.
        let fixed: [UInt8] = [1, UInt8(layout.speakers.count), 0x38, 0x01, 0x80, 0xBB, 0, 0, 0, 0, 1]
        return Array("OpusHead".utf8) + fixed + [form.streams, form.pairs] + form.mapping
    }
}
