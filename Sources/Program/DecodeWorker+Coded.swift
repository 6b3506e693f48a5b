import MediaTypes

/// What is told of the source's coded pictures, for whom they pass through.
extension DecodeWorker {
    /// Tells how the pictures are coded that come next, turned as the operator wants them: nobody can turn packets.
    mutating func tellCoding(_ parameters: CodecParameters) {
        let rotation = self.stage.rotation
        self.told = (parameters, rotation)
        var turned = CodecParameters(
            codec: parameters.codec, configuration: parameters.configuration,
            orientation: parameters.orientation.turned(by: rotation))
        turned.track = parameters.track
        turned.color = parameters.color
        self.buffer.coded.put(.configuration(turned))
    }

    /// Tells it again where the operator has turned the source since.
    mutating func tellTurn() {
        guard let told = self.told, told.rotation != self.stage.rotation else { return }
        self.tellCoding(told.parameters)
    }
}
