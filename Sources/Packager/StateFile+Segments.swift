import HLS
import LibAV
import MediaTypes

extension StateFile.Track {
    /// What it lists, as a playlist has it.
    ///
    /// - Parameters:
    ///   - origin: Time zero of the room: nanoseconds since the Unix epoch.
    ///   - keys: Of an encrypted room.
    func segments(timescale: Int32, origin: Int64, store: any SegmentStore, keys: RoomKeys?) -> [Segment] {
        let names = TrackNames(track: self.name)
        return self.entries.map { entry in
            let uri = names.segment(entry.mediaSequence, incarnation: entry.incarnation)
            let size = keys == nil ? entry.byteCount : BlockCipher.size(ofClear: entry.byteCount)
            return Segment(
                mediaSequence: entry.mediaSequence, uri: uri, start: entry.start,
                duration: MediaDuration(ticks: entry.duration, timescale: timescale),
                programDate: origin
                    &+ TimeMath.rescale(entry.start, from: Int64(timescale), to: TimeMath.nanoseconds),
                map: InitializationSegment(uri: self.maps[entry.map]), discontinuity: entry.discontinuity,
                key: keys?.segmentKey(of: entry.mediaSequence, track: self.name),
                // A listed file that answers "not found" stops some players for good; a gap does not. A machine that went
                // down may have left of one that was written last its name alone.
                gap: entry.gap || store.size(of: uri) != size, byteCount: entry.byteCount,
                independent: entry.independent,
                keyFrames: entry.keyFrames.map { frame in
                    KeyFrame(start: frame.start &+ entry.start, offset: frame.offset, byteCount: frame.byteCount)
                })
        }
    }

    /// What it has let go and not deleted.
    var retiredSegments: [RetiredSegment] {
        self.retired.map {
            RetiredSegment(
                uri: $0.uri, map: InitializationSegment(uri: self.maps[$0.map]), deleteAt: $0.deleteAt, gap: $0.gap,
                byteCount: $0.byteCount)
        }
    }
}
