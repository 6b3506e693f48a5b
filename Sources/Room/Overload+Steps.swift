package import PipelineSpec

extension Overload {
    /// The overload steps of a room in the order in which they are taken; empty for a room with only audio.
    /// ``Step/outputs`` is left out if the room has no such outputs.
    ///
    /// - Parameter renditions: Indexes of the renditions for which a cheaper encoder exists, the costliest first.
    package static func steps(for pipeline: Pipeline, renditions: [Int]) -> [Step] {
        guard !pipeline.isAudioOnly else { return [] }
        // Raw output, stills and thumbnail sheets: no player waits for them.
        let hasOptionalOutputs = !pipeline.raws.isEmpty || !pipeline.images.isEmpty
        return [.decoding] + (hasOptionalOutputs ? [.outputs] : []) + renditions.map { .encoder($0) }
            + [.halfPictures, .hold]
    }

    /// Indexes of the renditions for which a cheaper encoder exists, those with the most pixels per second first.
    static func costliestFirst(_ pipeline: Pipeline) -> [Int] {
        let renditions = pipeline.videoRenditions
        let costs = renditions.map { $0.width * $0.height * $0.fps }
        return costs.indices.filter { renditions[$0].video.preset != .ultrafast }
            .sorted { (costs[$1], $0) < (costs[$0], $1) }
    }
}
