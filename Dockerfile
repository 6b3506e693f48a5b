# Tandem's image: `docker build -t tandem .` or `podman build -t tandem .`
#
# BUILDER and BASE are Debian 12 both, because the program links the FFmpeg of the base. A BUILDER that has a program already, as
# /out/usr/bin/tandem, compiles nothing (deploy/image makes one, where no registry is).
ARG BUILDER=docker.io/library/swift:6.2-bookworm
ARG BASE=docker.io/library/debian:bookworm-slim

FROM ${BUILDER} AS build
RUN test -x /out/usr/bin/tandem || { apt-get update \
    && apt-get install -y --no-install-recommends libavcodec-dev libavformat-dev libavfilter-dev libswresample-dev zlib1g-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*; }
WORKDIR /src
COPY . .
RUN test -x /out/usr/bin/tandem || { swift build -c release --static-swift-stdlib --product tandem -Xlinker -s \
    && install -D .build/release/tandem /out/usr/bin/tandem \
    && install -D LICENSE /out/usr/share/doc/tandem/LICENSE \
    && deploy/completions .build/release/tandem /out/usr; }

FROM ${BASE}
# The libraries, fonts for texts on the picture (Latin, Korean, Chinese and Japanese; emoji), and certificates to trust.
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        ca-certificates fonts-noto-cjk fonts-symbola libavcodec59 libavfilter8 libavformat59 libswresample4 \
    && rm -rf /var/lib/apt/lists/* /usr/share/doc/*/changelog* /usr/share/man/*
COPY --from=build /out/ /
# Rooms write below here and nowhere else: the rest may be read-only.
RUN mkdir -p /var/lib/tandem /etc/tandem && chown 65532:65532 /var/lib/tandem
USER 65532:65532
WORKDIR /var/lib/tandem
VOLUME /var/lib/tandem
ENV LANG=C.UTF-8
EXPOSE 1935 8080
STOPSIGNAL SIGTERM
LABEL org.opencontainers.image.title="Tandem" \
    org.opencontainers.image.description="A live worker for one room: RTMP in, one picture, a ladder of HLS out" \
    org.opencontainers.image.licenses="Apache-2.0 AND GPL-2.0-or-later"
# The pipeline opens control at this address, as `tandem manifest` writes it.
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s \
    CMD ["/usr/bin/tandem", "healthcheck", "http://127.0.0.1:8081"]
ENTRYPOINT ["/usr/bin/tandem"]
CMD ["run", "/etc/tandem/pipeline.json"]
