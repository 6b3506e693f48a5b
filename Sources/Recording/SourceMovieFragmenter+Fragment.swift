import HLS
import MediaKernels
import MediaTypes

extension SourceMovieFragmenter {
    static let syncSample = FragmentWriter.syncSample
    static let dependentSample = FragmentWriter.dependentSample

    static func fragment(
        _ kind: TrackKind, id: UInt32, sequence: UInt32, decodeTime: Int64, _ rows: [PartSample]
    ) -> PacketMemory {
        FragmentWriter.fragment(
            kind: kind, track: id, sequence: sequence, decodeTime: decodeTime, samples: rows, startsSegment: false)
    }
}
