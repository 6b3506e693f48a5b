import MediaTypes

/// Output of the source's coded frames, for passthrough.
extension DecodeWorker {
    /// Announces the coding parameters of the following frames to the readers of the source's coded frames, with the
    /// operator's rotation added to the orientation, because packets cannot be rotated.
    mutating func tellCoding(_ parameters: CodecParameters) {
        let rotation = self.stage.rotation
        self.told = (parameters, rotation)
        var turned = CodecParameters(
            codec: parameters.codec, configuration: parameters.configuration,
            orientation: parameters.orientation.turned(by: rotation))
        turned.track = parameters.track
        turned.color = parameters.color
        self.tell(.configuration(turned))
    }

    /// Passes an item to the readers of the source's coded frames.
    func tell(_ item: ProgramPacket) {
        self.buffer.coded.put(item)
        self.buffer.captions.put(item)
    }

    /// Announces the coding parameters again if the operator has changed the rotation since the last announcement.
    mutating func tellTurn() {
        guard let told = self.told, told.rotation != self.stage.rotation else { return }
        self.tellCoding(told.parameters)
    }
}
