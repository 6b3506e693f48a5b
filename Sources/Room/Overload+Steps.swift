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
}
