package import MediaTypes

/// Writes the initialization segment of one track. The same parameters give the same bytes in every run.
///
/// Spec: ISO/IEC 14496-12 §8 (boxes), ISO/IEC 23000-19 §7.3 (CMAF header), rfc8216bis §3.1.2: no duration, no sample
/// table entries, `mvex`. Bit rates are left out on purpose, so that a change of an encoder's bit rate does not change
/// the bytes.
package enum InitializationSegmentWriter {
    /// Returns the initialization segment of a track.
    ///
    /// - Parameters:
    ///   - parameters: H.264 or AAC; H.264 configuration in `avcC` or Annex B form.
    ///   - width: Frame width after cropping, in pixels; ignored for audio.
    ///   - place: Name of the track for error messages.
    /// - Throws: ``MediaError/Code/invalidData`` if the configuration cannot be read, ``MediaError/Code/unavailable``
    ///   for a codec that is not supported here.
    package static func bytes(
        for parameters: CodecParameters, width: Int, height: Int, grid: OutputGrid, place: String
    ) throws(MediaError) -> [UInt8] {
        switch parameters.codec {
        case .h264:
            guard let avc = AVCConfiguration(extradata: parameters.configuration) else {
                throw MediaError(
                    .invalidData, "the H.264 configuration has no readable parameter sets", at: place,
                    fix: "let the encoder write a global header")
            }
            return self.movie(kind: .video, width: width, height: height, grid: grid) { box in
                box.avc1(avc, width: width, height: height)
            }
        case .aac:
            guard let audio = AudioSpecificConfig(record: parameters.configuration) else {
                throw MediaError(
                    .invalidData, "the AAC configuration cannot be read", at: place,
                    fix: "let the encoder write a global header")
            }
            return self.movie(kind: .audio, width: 0, height: 0, grid: grid) { box in
                box.mp4a(audio, configuration: parameters.configuration)
            }
        default:
            throw MediaError(
                .unavailable, "\(parameters.codec.rawValue) cannot be packaged", at: place, fix: "use h264 or aac")
        }
    }

    private static func movie(
        kind: TrackKind, width: Int, height: Int, grid: OutputGrid, sampleEntry: (inout BoxWriter) -> Void
    ) -> [UInt8] {
        let timescale = UInt32(grid.timescale(of: kind))
        var writer = BoxWriter()
        writer.box("ftyp") { box in
            box.text("iso6")
            box.u32(0)
            for brand in ["iso6", "cmf2", "cmfc", "mp41"] { box.text(brand) }
        }
        writer.box("moov") { moov in
            moov.movieHeader(timescale: timescale)
            moov.box("trak") { trak in
                trak.trackHeader(kind: kind, width: width, height: height)
                trak.box("mdia") { mdia in
                    mdia.mediaHeader(timescale: timescale)
                    mdia.handler(kind: kind)
                    mdia.box("minf") { minf in
                        minf.mediaInformationHeader(kind: kind)
                        minf.selfContainedDataReference()
                        minf.box("stbl") { stbl in
                            stbl.fullBox("stsd") { stsd in
                                stsd.u32(1)
                                sampleEntry(&stsd)
                            }
                            stbl.emptySampleTables()
                        }
                    }
                }
            }
            moov.box("mvex") { mvex in
                mvex.fullBox("trex") { trex in
                    trex.u32(1)  // track
                    trex.u32(1)  // sample description
                    trex.zeros(12)  // default duration, size, flags: each fragment carries its own
                }
            }
        }
        return writer.bytes
    }
}

extension BoxWriter {
    /// Writes the identity matrix of §8.2.2.
    private mutating func matrix() {
        for value: UInt32 in [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000] { self.u32(value) }
    }

    fileprivate mutating func movieHeader(timescale: UInt32) {
        self.fullBox("mvhd") { box in
            box.zeros(8)  // creation and modification time: zero, or the bytes would differ from run to run
            box.u32(timescale)
            box.u32(0)  // duration: unknown, it is live
            box.u32(0x10000)  // rate 1
            box.u16(0x100)  // volume 1
            box.zeros(10)
            box.matrix()
            box.zeros(24)
            box.u32(2)  // next track
        }
    }

    fileprivate mutating func trackHeader(kind: TrackKind, width: Int, height: Int) {
        self.fullBox("tkhd", flags: 3) { box in
            box.zeros(8)
            box.u32(1)  // track
            box.zeros(4)
            box.u32(0)  // duration
            box.zeros(8)
            box.zeros(4)  // layer, alternate group
            box.u16(kind == .audio ? 0x100 : 0)
            box.zeros(2)
            box.matrix()
            box.u32(UInt32(UInt16(clamping: width)) << 16)
            box.u32(UInt32(UInt16(clamping: height)) << 16)
        }
    }

    fileprivate mutating func mediaHeader(timescale: UInt32) {
        self.fullBox("mdhd") { box in
            box.zeros(8)
            box.u32(timescale)
            box.u32(0)
            box.u16(0x55C4)  // "und"
            box.u16(0)
        }
    }

    fileprivate mutating func handler(kind: TrackKind) {
        self.fullBox("hdlr") { box in
            box.u32(0)
            box.text(kind == .video ? "vide" : "soun")
            box.zeros(12)
            box.text(kind == .video ? "Video" : "Audio")
            box.u8(0)
        }
    }

    fileprivate mutating func mediaInformationHeader(kind: TrackKind) {
        switch kind {
        case .video: self.fullBox("vmhd", flags: 1) { $0.zeros(8) }
        case .audio: self.fullBox("smhd") { $0.zeros(4) }
        }
    }

    fileprivate mutating func selfContainedDataReference() {
        self.box("dinf") { dinf in
            dinf.fullBox("dref") { dref in
                dref.u32(1)
                dref.fullBox("url ", flags: 1) { _ in }
            }
        }
    }

    fileprivate mutating func emptySampleTables() {
        self.fullBox("stts") { $0.u32(0) }
        self.fullBox("stsc") { $0.u32(0) }
        self.fullBox("stsz") { $0.zeros(8) }
        self.fullBox("stco") { $0.u32(0) }
    }
}
