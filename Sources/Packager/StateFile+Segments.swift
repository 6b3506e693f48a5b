import HLS
import LibAV
import MediaTypes

extension StateFile.Track {
    /// Converts the stored entries to segments of a playlist. A segment whose file is missing or has another size
    /// becomes a gap.
    ///
    /// - Parameters:
    ///   - origin: Time zero of the room: nanoseconds since the Unix epoch.
    ///   - keys: Encryption keys; `nil` if segments are not encrypted.
    func segments(timescale: Int32, origin: Int64, store: any SegmentStore, keys: SegmentKeys?) -> [Segment] {
        let names = TrackNames(track: self.name)
        return self.entries.map { entry in
            let uri = names.segment(entry.mediaSequence, incarnation: entry.incarnation)
            let size = keys == nil ? entry.byteCount : BlockCipher.size(ofClear: entry.byteCount)
            // A missing file of a listed segment stops some players permanently; a gap does not. After a crash of the
            // machine, the file written last may exist without its content.
            var entry = entry
            entry.gap = entry.gap || store.size(of: uri) != size
            return entry.segment(
                names, timescale: timescale, origin: origin, map: InitializationSegment(uri: self.maps[entry.map]),
                keys: keys)
        }
    }

    /// Segments that are no longer listed but not deleted.
    var retiredSegments: [RetiredSegment] {
        self.retired.map {
            RetiredSegment(
                uri: $0.uri, map: InitializationSegment(uri: self.maps[$0.map]), deleteAt: $0.deleteAt, gap: $0.gap,
                byteCount: $0.byteCount)
        }
    }
}
