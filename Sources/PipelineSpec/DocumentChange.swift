package import MediaTypes

/// What another version of a room's file changes in the room that runs by it.
package struct DocumentChange: Sendable {
    /// Why a version does not follow.
    package enum Refusal: Error, Sendable, Equatable {
        /// The room has this version, or a later one.
        case superseded(by: Int)
        /// What ``RoomDocument/shown`` leaves out, and is left out here, too; never empty.
        case hidden([SpecMistake])
        /// What no running room can take; never empty.
        case needsRestart([SpecMistake])
    }

    /// The version to come, with its revision.
    package let document: RoomDocument
    /// What was written otherwise, as JSON paths; `revision` not among them.
    package let paths: [String]
    /// False for the same version with the same content.
    package let isChange: Bool

    /// Judges the version that shall follow.
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
    ) -> SpecMistake {
        let fix =
            path.hasPrefix("room.roomId")
            ? "start a room of its own for it"
            : "leave it as it is, or drain this worker and run the new file: the successor goes on with the same playlists"
        return SpecMistake(path: path, at: .none, what: what, fix: fix)
    }

    /// Webhooks whose URLs have lost what is not shown: whoever sends a document back that was asked for means no other receiver.
    private static func hiddenURLs(from current: Pipeline, to next: Pipeline) -> [SpecMistake] {
        let known = Set(current.control.events.compactMap(\.urlText))
        let cut = Set(known.map { JSONNode.origin($0) }).subtracting(known)
        let isCut = next.control.events.map { $0.urlText.map { cut.contains($0) } ?? false }
        return isCut.indices.filter { isCut[$0] }.map { index in
            SpecMistake(
                path: "control.events[\(index)].url", at: .none, what: "is what is shown of a URL that says more",
                fix: "write the whole URL, or, to do without the rest, leave this webhook out first")
        }
    }

    /// Outputs that cannot begin, end or change, each by its id: one more in the list moves the places of the others.
    private static func outputMistakes(from current: RoomDocument, to next: RoomDocument) -> [SpecMistake] {
        let (before, after) = (current.pipeline.fixedOutputs, next.pipeline.fixedOutputs)
        var mistakes: [SpecMistake] = []
        for (index, output) in after {
            let path = "outputs[\(index)]"
            guard let (place, old) = before.first(where: { $0.output.outputID == output.outputID }) else {
                mistakes.append(
                    Self.remedy(
                        path, "\(SpecText.quoted(output.outputID)) cannot begin while the room runs\(Self.onlyPushes)"))
                continue
            }
            guard old != output else { continue }
            let (one, other) = (next.effective["outputs", index], current.effective["outputs", place])
            // None where it only follows from something else that changes, such as the frame rate.
            let paths = one.flatMap { one in other.map { one.differences(from: $0, at: path) } } ?? []
            mistakes += paths.map { Self.remedy($0) }
        }
        for (_, old) in before where !after.contains(where: { $0.output.outputID == old.outputID }) {
            mistakes.append(
                Self.remedy(
                    "outputs", "\(SpecText.quoted(old.outputID)) cannot end while the room runs\(Self.onlyPushes)"))
        }
        return mistakes
    }

    private static let onlyPushes = ": outputs of the type rtmp alone can"

    /// What a running room takes: the paths of ``Pipeline/differsOnlyAlive(from:)``, but for RTMP outputs and for sources that
    /// come and go, which are told from others by their type.
    static let alive = [
        "ext", "room.title", "scenes", "watermarks", "canvas.bgImages", "canvas.backgroundColor", "program",
        "pk", "alarms", "shutdown", "idle", "sources.volume", "sources.audioTracks", "sources.offsetMs",
        "sources.rotation", "sources.expected",
        "sources.streamKey", "sources.streamKeys", "sources.streamKeyFile", "sources.streamKeyEnv",
        "ingest.auth.secretFile", "ingest.auth.secretEnv", "control.events",
        "renditions.video.bitrate", "renditions.video.maxBitrate", "renditions.video.bufferSize",
    ]

    /// Whether a path, its indexes left aside, is that of a value or lies in it.
    static func isPart(_ path: String, of whole: String) -> Bool {
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
    /// An element of a list of a pipeline file; `nil`: it is not written.
    subscript(list: String, index: Int) -> JSONNode? {
        guard case .array(let elements)? = self[key: list]?.content, elements.indices.contains(index) else {
            return nil
        }
        return elements[index]
    }
}

extension Pipeline {
    /// The outputs that begin and end with their worker, with their places among all.
    fileprivate var fixedOutputs: [(index: Int, output: Output)] {
        self.outputs.enumerated().compactMap { index, output -> (index: Int, output: Output)? in
            if case .rtmp = output { return nil }
            return (index, output)
        }
    }

    /// Whether all that differs is what a running room takes.
    fileprivate func differsOnlyAlive(from current: Pipeline) -> Bool {
        var rest = self
        rest.room.title = current.room.title
        rest.scenes = current.scenes
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
        if rest.ingest.auth?.secret != nil, let secret = current.ingest.auth?.secret {
            rest.ingest.auth?.secret = secret
        }
        guard rest.sourcesDifferOnlyAlive(from: current) else { return false }
        rest.sources = current.sources
        return rest == current
    }
}
