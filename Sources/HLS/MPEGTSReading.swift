package import MediaTypes

/// Converts published fMP4 fragments of a rendition to the video, audio and metadata units of an MPEG-TS stream,
/// without encoding.
package enum MPEGTSReading {
    /// Returns the video or audio units of a track's segment.
    ///
    /// - Parameters:
    ///   - timescale: Ticks per second of the track.
    ///   - reorder: Number of ticks by which decoding times are made earlier. In fragments an IDR frame's decoding time
    ///     equals its presentation time; in transport streams no frame may be decoded after its presentation time.
    /// - Returns: `nil` if ``SegmentSamples`` cannot read the bytes.
    package static func units(
        _ bytes: [UInt8], kind: TrackKind, timescale: Int64, reorder: Int64 = 0
    ) -> [StreamUnit]? {
        guard timescale > 0, let segment = SegmentSamples(bytes) else { return nil }
        func time(_ ticks: Int64) -> Int64 { TimeMath.rescale(ticks, from: timescale, to: MPEGTSMuxer.timescale) }
        var units: [StreamUnit] = []
        for fragment in segment.fragments {
            var position = fragment.data.lowerBound
            var decodeTime = fragment.decodeTime
            for sample in fragment.samples {
                let end = min(position &+ Int(sample.size), fragment.data.upperBound)
                let content: StreamUnit.Content = kind == .video ? .picture(isKey: sample.isSync) : .audio
                units.append(
                    StreamUnit(
                        content, Array(bytes[position..<end]), pts: time(decodeTime &+ Int64(sample.offset)),
                        dts: time(decodeTime &- reorder)))
                position = end
                decodeTime &+= Int64(sample.duration)
            }
        }
        return units
    }

    /// Returns the largest amount, in the track's ticks, by which the decoding time of a frame is later than its
    /// presentation time: the minimum value for the parameter `reorder` of ``units(_:kind:timescale:reorder:)``.
    package static func reorder(of bytes: [UInt8]) -> Int64 {
        let samples = SegmentSamples(bytes)?.fragments.flatMap(\.samples) ?? []
        return samples.reduce(0) { max($0, -Int64($1.offset)) }
    }

    /// Returns the ID3 metadata of a segment; other event messages are left out. Spec: ISO/IEC 23009-1 §5.10.3.3
    /// (`emsg`, version 1).
    package static func metadata(_ bytes: [UInt8]) -> [StreamUnit] {
        let reader = BoxReader(bytes: bytes)
        guard let boxes = reader.boxes(in: 0..<bytes.count) else { return [] }
        return boxes.compactMap { box in
            let start = box.body.lowerBound
            guard box.type == "emsg", reader.u8(start) == 1, let timescale = reader.u32(start + 4), timescale > 0,
                let ticks = reader.u64(start + 8).flatMap({ Int64(exactly: $0) }), ticks < 1 << 56
            else { return nil }
            let texts = bytes[min(start + 24, box.body.upperBound)..<box.body.upperBound]
            // The payload follows two zero-terminated strings.
            guard let scheme = texts.firstIndex(of: 0), let value = texts[(scheme + 1)...].firstIndex(of: 0),
                String(decoding: texts[..<scheme], as: UTF8.self) == EventMessage.id3Scheme
            else { return nil }
            let time = TimeMath.rescale(ticks, from: Int64(timescale), to: MPEGTSMuxer.timescale)
            return StreamUnit(.metadata, Array(texts[(value + 1)...]), pts: time)
        }
    }

    /// Reads the codec configuration from an initialization segment written by ``InitializationSegmentWriter``; both
    /// are `nil` if it cannot be read.
    package static func configuration(_ bytes: [UInt8]) -> (
        video: AVCConfiguration?, audio: AudioSpecificConfig?
    ) {
        let reader = BoxReader(bytes: bytes)
        let place = ["moov", "trak", "mdia", "minf", "stbl", "stsd"]
        guard let table = reader.first(place, in: 0..<bytes.count), table.body.count > 8,
            let entry = reader.boxes(in: (table.body.lowerBound + 8)..<table.body.upperBound)?.first
        else { return (nil, nil) }
        func inside(_ header: Int, _ type: String) -> BoxReader.Box? {
            let start = entry.body.lowerBound + header
            guard start <= entry.body.upperBound else { return nil }
            return reader.boxes(in: start..<entry.body.upperBound)?.first { $0.type == type }
        }
        if entry.type == "avc1", let box = inside(78, "avcC") {
            return (AVCConfiguration(extradata: Array(bytes[box.body])), nil)
        }
        if entry.type == "mp4a", let box = inside(28, "esds") {
            let info = DecoderSpecificInfo.read(esds: Array(bytes[box.body]))
            return (nil, info.flatMap(AudioSpecificConfig.init(record:)))
        }
        return (nil, nil)
    }
}
