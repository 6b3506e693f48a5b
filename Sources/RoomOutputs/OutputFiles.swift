import HLS
import MediaTypes
import Packager
import PipelineSpec
import Upload

/// Access to the files of the HLS output for an uploader.
struct OutputFiles: UploadFiles {
    let directory: any OutputDirectory
    let outputID: String
    /// Makes slate media that a store lists in place of lost segments; nil if the store lists gaps.
    let slate: (@Sendable (_ like: Segment, _ track: String) -> [UInt8]?)?

    /// Name of the file that records the progress of a store. It exists until the store has received everything.
    static func noteName(_ outputID: String) -> String { UploadRecord.notePrefix + outputID }

    private var noteName: String { Self.noteName(self.outputID) }

    func bytes(of name: String) -> [UInt8]? { self.directory.bytes(ofFile: name) }

    func bytes(of name: String, in directory: String) -> [UInt8]? { DirectoryStore(directory: directory).read(name) }

    func slate(like segment: Segment, track: String) -> [UInt8]? { self.slate?(segment, track) }

    func record() -> UploadRecord? {
        self.directory.note(named: self.noteName).flatMap { UploadRecord(text: String(decoding: $0, as: UTF8.self)) }
    }

    func keep(_ record: UploadRecord, durable: Bool) -> Bool {
        // If this fails, then a successor continues from an older record and uploads some segments twice.
        (try? self.directory.keep(note: Array(record.text.utf8), named: self.noteName, durable: durable)) != nil
    }

    func forget() { self.directory.removeNote(named: self.noteName) }
}

extension UploadRules {
    /// The upload rules of a store in the pipeline.
    init(_ store: StoreRules) {
        self.init()
        self.patience = store.retryForMs.map { Int64($0) * 1_000_000 }
        self.mostSegments = store.queueSegments
        self.restamp = store.onLost == .slate ? .slate : .gap
        self.deletes = store.deletes
    }
}

extension OutputEvents {
    /// Emits an event about a store.
    func emit(_ notice: UploadNotice, of outputID: String) {
        let id = JSONValue.string(outputID)
        switch notice {
        case .unreachable(let reason):
            self.emit(
                "output.unreachable",
                [
                    "outputId": id, "level": "alert_2", "state": "set", "code": "outputUnreachable",
                    "reason": .string(reason),
                ])
        case .restored(let failures, let time):
            self.emit(
                "output.unreachable",
                [
                    "outputId": id, "level": "normal", "state": "cleared", "failures": JSONValue(failures),
                    "durationMs": .integer(time / 1_000_000),
                ])
        case .lost(let number, let tracks, let isSlate):
            self.emit(
                "output.lost",
                [
                    "outputId": id, "mediaSequence": .integer(number), "tracks": .array(tracks.map { .string($0) }),
                    "listedAs": isSlate ? "slate" : "gap",
                ])
        }
    }
}
