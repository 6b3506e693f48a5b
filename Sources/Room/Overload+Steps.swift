package import PipelineSpec

extension Overload {
    /// The steps of a room, in the order in which it takes them; steps without any effect are left out.
    ///
    /// - Parameter renditions: Indexes of the renditions that have a cheaper encoder, the costliest first.
    package static func steps(for pipeline: Pipeline, renditions: [Int]) -> [Step] {
        // Stills, thumbnail sheets and raw output: no player waits for them.
        let hasOptionalOutputs = !pipeline.raws.isEmpty || !pipeline.images.isEmpty
        return [.decoding] + (hasOptionalOutputs ? [.outputs] : []) + renditions.map { .encoder($0) }
            + [.halfPictures, .hold]
    }

    /// Indexes of the renditions that have a cheaper encoder, those with the most samples per second first.
    static func costliestFirst(_ pipeline: Pipeline) -> [Int] {
        let renditions = pipeline.pictureRenditions
        let costs = renditions.map { $0.width * $0.height * $0.fps }
        return costs.indices.filter { renditions[$0].video.preset != .ultrafast }
            .sorted { (costs[$1], $0) < (costs[$0], $1) }
    }
}
