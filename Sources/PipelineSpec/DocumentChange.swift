package import MediaTypes

/// The change from one version of a room's document to the next. It exists only if a running room can apply the change.
package struct DocumentChange: Sendable {
    /// Why a new version of the document is rejected.
    package enum Refusal: Error, Sendable, Equatable {
        /// The room has a later version, or this version with other content.
        case superseded(by: Int)
        /// The new version contains a webhook URL as ``RoomDocument/shown`` prints it, without its secret part. The
        /// list is never empty.
        case hidden([SpecDiagnostic])
        /// The listed changes need a restart of the worker. The list is never empty.
        case needsRestart([SpecDiagnostic])
    }

    /// The new version, with its revision.
    package let document: RoomDocument
    /// JSON paths of the members that differ, without `revision`.
    package let paths: [String]
    /// Whether the new version changes anything; `false` if revision and content are the same.
    package let isChange: Bool

    /// Compares the current version with the next one and checks whether the room can apply it.
    ///
    /// - Throws: ``Refusal``.
    package init(from current: RoomDocument, to next: RoomDocument) throws(Refusal) {
        var next = next
        let paths = next.effective.differences(from: current.effective).filter { $0 != "revision" }
        var same = next.pipeline
        same.revision = current.pipeline.revision
        let isSame = same == current.pipeline && !paths.contains { Self.isPart($0, of: "ext") }
        if next.pipeline.revision == nil { next.revision = isSame ? current.revision : current.revision &+ 1 }
        let isChange = !isSame || next.revision != current.revision
        guard next.revision > current.revision || !isChange else { throw .superseded(by: current.revision) }
        guard same.differsOnlyAlive(from: current.pipeline) else {
            let refused = paths.filter { path in
                !Self.isPart(path, of: "outputs") && !Self.isPart(path, of: "sources")
                    && !Self.alive.contains { Self.isPart(path, of: $0) }
            }
            let mistakes =
                refused.map { Self.remedy($0) } + Self.sourceMistakes(from: current, to: next)
                + Self.outputMistakes(from: current, to: next)
            throw .needsRestart(mistakes.isEmpty ? paths.map { Self.remedy($0) } : mistakes)
        }
        let hidden = Self.hiddenURLs(from: current.pipeline, to: next.pipeline)
        guard hidden.isEmpty else { throw .hidden(hidden) }
        self.document = next
        self.paths = paths
        self.isChange = isChange
    }

    static func remedy(
        _ path: String, _ what: String = "cannot change while the room runs"
    ) -> SpecDiagnostic {
        let fix =
            path.hasPrefix("room.roomId")
            ? "start a separate room for it"
            : "keep it as it is, or drain this worker and start a new one with the new file, which continues the same playlists"
        return SpecDiagnostic(path: path, at: .none, what: what, fix: fix)
    }

    /// Finds webhook URLs that were copied from a document that the API returned, without the secret part. A client
    /// that sends such a document back does not mean to change the receiver. Applying the short URL would lose the receiver,
    /// so the change is rejected.
    private static func hiddenURLs(from current: Pipeline, to next: Pipeline) -> [SpecDiagnostic] {
        let known = Set(current.control.events.compactMap(\.urlText))
        let cut = Set(known.map { JSONNode.origin($0) }).subtracting(known)
        let isCut = next.control.events.map { $0.urlText.map { cut.contains($0) } ?? false }
        return isCut.indices.filter { isCut[$0] }.map { index in
            SpecDiagnostic(
                path: "control.events[\(index)].url", at: .none,
                what: "is the shortened form in which the API shows the URL of a webhook",
                fix: "write the complete URL; if the short URL is really meant, first remove this webhook, then add it")
        }
    }

    /// Reports outputs that cannot be added, removed or changed while the room runs. Outputs are matched by id, because
    /// adding an output to the list shifts the indexes of later outputs.
    private static func outputMistakes(from current: RoomDocument, to next: RoomDocument) -> [SpecDiagnostic] {
        let (before, after) = (current.pipeline.fixedOutputs, next.pipeline.fixedOutputs)
        var mistakes: [SpecDiagnostic] = []
        for (index, output) in after {
            let path = "outputs[\(index)]"
            guard let (place, old) = before.first(where: { $0.output.outputID == output.outputID }) else {
                mistakes.append(
                    Self.remedy(
                        path,
                        "\(SpecText.quoted(output.outputID)) cannot be added while the room runs\(Self.onlyPushes)"))
                continue
            }
            guard old != output else { continue }
            let (one, other) = (next.effective["outputs", index], current.effective["outputs", place])
            // Empty if the output changes only as a result of another change, such as the frame rate.
            let paths = one.flatMap { one in other.map { one.differences(from: $0, at: path) } } ?? []
            mistakes += paths.map { Self.remedy($0) }
        }
        for (_, old) in before where !after.contains(where: { $0.output.outputID == old.outputID }) {
            mistakes.append(
                Self.remedy(
                    "outputs",
                    "\(SpecText.quoted(old.outputID)) cannot be removed while the room runs\(Self.onlyPushes)"))
        }
        return mistakes
    }

    private static let onlyPushes = "; only outputs of type rtmp can"

    /// Paths that can change while the room runs: those of ``Pipeline/differsOnlyAlive(from:)``. RTMP outputs and
    /// sources that are added or removed are missing here because they are recognized by their type and id.
    package static let alive = [
        "ext", "room.title", "scenes", "overlays", "watermarks", "canvas.bgImages", "canvas.backgroundColor", "program",
        "pk", "alarms", "shutdown", "idle", "audio.speaking", "audio.lowerMusic", "sources.volume",
        "sources.audioTracks",
        "sources.offsetMs", "sources.rotation", "sources.expected", "sources.record", "sources.background",
        "sources.fadeMs", "sources.audio",
        "sources.streamKey", "sources.streamKeys", "sources.streamKeyFile", "sources.streamKeyEnv",
        "ingest.auth.secretFile", "ingest.auth.secretEnv", "control.events",
        "captions.from", "moderation.stills.intervalSeconds", "moderation.stills.width", "renditions.video.bitrate",
        "renditions.video.maxBitrate", "renditions.video.bufferSize",
    ]

    /// Whether a path is `whole` or lies inside it; array indexes are ignored.
    package static func isPart(_ path: String, of whole: String) -> Bool {
        var plain = ""
        var depth = 0
        for character in path {
            switch character {
            case "[": depth += 1
            case "]": depth -= 1
            default: if depth == 0 { plain.append(character) }
            }
        }
        return plain == whole || plain.hasPrefix("\(whole).")
    }
}

extension JSONNode {
    /// The element at `index` of the document's member `list`; `nil` if the document does not contain it.
    subscript(list: String, index: Int) -> JSONNode? {
        guard case .array(let elements)? = self[key: list]?.content, elements.indices.contains(index) else {
            return nil
        }
        return elements[index]
    }
}

extension Pipeline {
    /// The outputs that cannot be added, removed or changed while the worker runs (all except RTMP outputs), with their
    /// indexes in `outputs`.
    fileprivate var fixedOutputs: [(index: Int, output: Output)] {
        self.outputs.enumerated().compactMap { index, output -> (index: Int, output: Output)? in
            if case .rtmp = output { return nil }
            return (index, output)
        }
    }

    /// Whether this pipeline differs from `current` only in members that a running room can change.
    fileprivate func differsOnlyAlive(from current: Pipeline) -> Bool {
        var rest = self
        rest.room.title = current.room.title
        rest.scenes = current.scenes
        rest.overlays = current.overlays
        rest.watermarks = current.watermarks
        rest.canvas.bgImages = current.canvas.bgImages
        rest.canvas.backgroundColor = current.canvas.backgroundColor
        rest.program = current.program
        rest.pk = current.pk
        guard rest.fixedOutputs.map(\.output) == current.fixedOutputs.map(\.output) else { return false }
        rest.outputs = current.outputs
        rest.control.events = current.control.events
        guard rest.renditions.map(\.name) == current.renditions.map(\.name) else { return false }
        for (index, rendition) in current.renditions.enumerated() {
            rest.renditions[index].video.bitrate = rendition.video.bitrate
            rest.renditions[index].video.maxBitrate = rendition.video.maxBitrate
            rest.renditions[index].video.bufferSize = rendition.video.bufferSize
        }
        rest.alarms = current.alarms
        rest.shutdown = current.shutdown
        rest.idle = current.idle
        (rest.audio.speaking, rest.audio.lowerMusic) = (current.audio.speaking, current.audio.lowerMusic)
        if rest.captions != nil, let captions = current.captions { rest.captions?.from = captions.from }
        if rest.moderation != nil, let stills = current.moderation?.stills {
            rest.moderation?.stills.intervalSeconds = stills.intervalSeconds
            rest.moderation?.stills.width = stills.width
        }
        if rest.ingest.auth?.secret != nil, let secret = current.ingest.auth?.secret {
            rest.ingest.auth?.secret = secret
        }
        guard rest.sourcesDifferOnlyAlive(from: current) else { return false }
        rest.sources = current.sources
        return rest == current
    }
}
