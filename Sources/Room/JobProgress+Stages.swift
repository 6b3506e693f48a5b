import Packager
import Program
import RoomAPI
import RoomSources

extension JobProgress.Marks {
    init(_ roster: SourceRoster, _ program: ProgramStage, _ packager: HLSPackager?) {
        let decoded = roster.sources.values.reduce(0) { sum, source in
            let stats = source.decode.stats
            return sum + stats.videoPackets + stats.audioPackets
        }
        self.init(
            tick: program.tick, audio: program.audioPosition, decoded: Int64(decoded),
            coded: packager?.lastPacketAt ?? 0)
    }
}

extension JobProgress.Wait {
    init(_ roster: SourceRoster, _ packager: HLSPackager?) {
        if let packager, packager.isWaitingForStore {
            self = .store(packager.directory)
            return
        }
        let waiting = roster.sources.values.filter { $0.buffer.isAwaited && $0.decode.queued == 0 }
        let paths = waiting.compactMap { source -> String? in
            if case .file(let path, _) = source.spec.input { path } else { nil }
        }
        self = paths.isEmpty ? .itself : .files(paths.sorted())
    }
}
