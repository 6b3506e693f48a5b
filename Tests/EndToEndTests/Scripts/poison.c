// Wraps a function of libavcodec in a worker under test (LD_PRELOAD) and crashes, as a faulty decoder does, at the first packet of a
// video for which the decoder already knows a width of 336 samples. The worker itself is unchanged.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libavcodec/avcodec.h>

int avcodec_send_packet(AVCodecContext *context, const AVPacket *packet) {
    int (*real)(AVCodecContext *, const AVPacket *) = (int (*)(AVCodecContext *, const AVPacket *))dlsym(RTLD_NEXT, "avcodec_send_packet");
    if (packet && packet->data && context->width == 336) *(volatile int *)8 = 1;
    return real(context, packet);
}
