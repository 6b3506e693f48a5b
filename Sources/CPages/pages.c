#include "CPages.h"

// Paths are relative to this file.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char viewer_page_html[] = {
#embed "../Origin/Page/page.html" suffix(, )
    0};
const char *tandem_viewer_page_html(void) { return viewer_page_html; }

static const char viewer_page_css[] = {
#embed "../Origin/Page/page.css" suffix(, )
    0};
const char *tandem_viewer_page_css(void) { return viewer_page_css; }

static const char viewer_requests_js[] = {
#embed "../Origin/Page/requests.js" suffix(, )
    0};
const char *tandem_viewer_requests_js(void) { return viewer_requests_js; }

static const char viewer_playlist_js[] = {
#embed "../Origin/Page/playlist.js" suffix(, )
    0};
const char *tandem_viewer_playlist_js(void) { return viewer_playlist_js; }

static const char viewer_track_js[] = {
#embed "../Origin/Page/track.js" suffix(, )
    0};
const char *tandem_viewer_track_js(void) { return viewer_track_js; }

static const char viewer_player_js[] = {
#embed "../Origin/Page/player.js" suffix(, )
    0};
const char *tandem_viewer_player_js(void) { return viewer_player_js; }

static const char viewer_native_js[] = {
#embed "../Origin/Page/native.js" suffix(, )
    0};
const char *tandem_viewer_native_js(void) { return viewer_native_js; }

static const char viewer_webrtc_js[] = {
#embed "../Origin/Page/webrtc.js" suffix(, )
    0};
const char *tandem_viewer_webrtc_js(void) { return viewer_webrtc_js; }

static const char viewer_words_js[] = {
#embed "../Origin/Page/words.js" suffix(, )
    0};
const char *tandem_viewer_words_js(void) { return viewer_words_js; }

static const char viewer_screen_js[] = {
#embed "../Origin/Page/screen.js" suffix(, )
    0};
const char *tandem_viewer_screen_js(void) { return viewer_screen_js; }

static const char viewer_session_js[] = {
#embed "../Origin/Page/session.js" suffix(, )
    0};
const char *tandem_viewer_session_js(void) { return viewer_session_js; }

static const char viewer_lowdelay_js[] = {
#embed "../Origin/Page/lowdelay.js" suffix(, )
    0};
const char *tandem_viewer_lowdelay_js(void) { return viewer_lowdelay_js; }

static const char viewer_status_js[] = {
#embed "../Origin/Page/status.js" suffix(, )
    0};
const char *tandem_viewer_status_js(void) { return viewer_status_js; }

static const char viewer_controls_js[] = {
#embed "../Origin/Page/controls.js" suffix(, )
    0};
const char *tandem_viewer_controls_js(void) { return viewer_controls_js; }

static const char viewer_seekbar_js[] = {
#embed "../Origin/Page/seekbar.js" suffix(, )
    0};
const char *tandem_viewer_seekbar_js(void) { return viewer_seekbar_js; }

static const char viewer_thumbnails_js[] = {
#embed "../Origin/Page/thumbnails.js" suffix(, )
    0};
const char *tandem_viewer_thumbnails_js(void) { return viewer_thumbnails_js; }

static const char viewer_figures_js[] = {
#embed "../Origin/Page/figures.js" suffix(, )
    0};
const char *tandem_viewer_figures_js(void) { return viewer_figures_js; }

static const char viewer_captions_js[] = {
#embed "../Origin/Page/captions.js" suffix(, )
    0};
const char *tandem_viewer_captions_js(void) { return viewer_captions_js; }

static const char viewer_page_js[] = {
#embed "../Origin/Page/page.js" suffix(, )
    0};
const char *tandem_viewer_page_js(void) { return viewer_page_js; }

static const char publisher_page_html[] = {
#embed "../HTTPListener/PublisherPage/page.html" suffix(, )
    0};
const char *tandem_publisher_page_html(void) { return publisher_page_html; }

static const char publisher_page_css[] = {
#embed "../HTTPListener/PublisherPage/page.css" suffix(, )
    0};
const char *tandem_publisher_page_css(void) { return publisher_page_css; }

static const char publisher_words_js[] = {
#embed "../HTTPListener/PublisherPage/words.js" suffix(, )
    0};
const char *tandem_publisher_words_js(void) { return publisher_words_js; }

static const char publisher_media_js[] = {
#embed "../HTTPListener/PublisherPage/media.js" suffix(, )
    0};
const char *tandem_publisher_media_js(void) { return publisher_media_js; }

static const char publisher_session_js[] = {
#embed "../HTTPListener/PublisherPage/session.js" suffix(, )
    0};
const char *tandem_publisher_session_js(void) { return publisher_session_js; }

static const char publisher_page_js[] = {
#embed "../HTTPListener/PublisherPage/page.js" suffix(, )
    0};
const char *tandem_publisher_page_js(void) { return publisher_page_js; }

static const char publisher_ticker_js[] = {
#embed "../HTTPListener/PublisherPage/ticker.js" suffix(, )
    0};
const char *tandem_publisher_ticker_js(void) { return publisher_ticker_js; }

static const char control_page_html[] = {
#embed "../Control/Page/page.html" suffix(, )
    0};
const char *tandem_control_page_html(void) { return control_page_html; }

static const char control_guide_html[] = {
#embed "../Control/Page/guide.html" suffix(, )
    0};
const char *tandem_control_guide_html(void) { return control_guide_html; }

static const char control_page_css[] = {
#embed "../Control/Page/page.css" suffix(, )
    0};
const char *tandem_control_page_css(void) { return control_page_css; }

static const char control_studio_css[] = {
#embed "../Control/Page/studio.css" suffix(, )
    0};
const char *tandem_control_studio_css(void) { return control_studio_css; }

static const char control_page_js[] = {
#embed "../Control/Page/page.js" suffix(, )
    0};
const char *tandem_control_page_js(void) { return control_page_js; }

static const char control_dom_js[] = {
#embed "../Control/Page/dom.js" suffix(, )
    0};
const char *tandem_control_dom_js(void) { return control_dom_js; }

static const char control_api_js[] = {
#embed "../Control/Page/api.js" suffix(, )
    0};
const char *tandem_control_api_js(void) { return control_api_js; }

static const char control_store_js[] = {
#embed "../Control/Page/store.js" suffix(, )
    0};
const char *tandem_control_store_js(void) { return control_store_js; }

static const char control_geometry_js[] = {
#embed "../Control/Page/geometry.js" suffix(, )
    0};
const char *tandem_control_geometry_js(void) { return control_geometry_js; }

static const char control_scene_js[] = {
#embed "../Control/Page/scene.js" suffix(, )
    0};
const char *tandem_control_scene_js(void) { return control_scene_js; }

static const char control_stage_js[] = {
#embed "../Control/Page/stage.js" suffix(, )
    0};
const char *tandem_control_stage_js(void) { return control_stage_js; }

static const char control_editor_js[] = {
#embed "../Control/Page/editor.js" suffix(, )
    0};
const char *tandem_control_editor_js(void) { return control_editor_js; }

static const char control_inspector_js[] = {
#embed "../Control/Page/inspector.js" suffix(, )
    0};
const char *tandem_control_inspector_js(void) { return control_inspector_js; }

static const char control_sources_js[] = {
#embed "../Control/Page/sources.js" suffix(, )
    0};
const char *tandem_control_sources_js(void) { return control_sources_js; }

static const char control_stills_js[] = {
#embed "../Control/Page/stills.js" suffix(, )
    0};
const char *tandem_control_stills_js(void) { return control_stills_js; }

static const char control_pk_js[] = {
#embed "../Control/Page/pk.js" suffix(, )
    0};
const char *tandem_control_pk_js(void) { return control_pk_js; }

static const char control_invite_js[] = {
#embed "../Control/Page/invite.js" suffix(, )
    0};
const char *tandem_control_invite_js(void) { return control_invite_js; }

static const char control_capture_js[] = {
#embed "../Control/Page/capture.js" suffix(, )
    0};
const char *tandem_control_capture_js(void) { return control_capture_js; }

static const char control_outputs_js[] = {
#embed "../Control/Page/outputs.js" suffix(, )
    0};
const char *tandem_control_outputs_js(void) { return control_outputs_js; }

static const char control_trouble_js[] = {
#embed "../Control/Page/trouble.js" suffix(, )
    0};
const char *tandem_control_trouble_js(void) { return control_trouble_js; }

static const char control_events_js[] = {
#embed "../Control/Page/events.js" suffix(, )
    0};
const char *tandem_control_events_js(void) { return control_events_js; }

static const char control_logs_js[] = {
#embed "../Control/Page/logs.js" suffix(, )
    0};
const char *tandem_control_logs_js(void) { return control_logs_js; }

static const char control_header_js[] = {
#embed "../Control/Page/header.js" suffix(, )
    0};
const char *tandem_control_header_js(void) { return control_header_js; }

static const char control_watch_js[] = {
#embed "../Control/Page/watch.js" suffix(, )
    0};
const char *tandem_control_watch_js(void) { return control_watch_js; }

static const char control_timeline_js[] = {
#embed "../Control/Page/timeline.js" suffix(, )
    0};
const char *tandem_control_timeline_js(void) { return control_timeline_js; }

static const char control_keys_js[] = {
#embed "../Control/Page/keys.js" suffix(, )
    0};
const char *tandem_control_keys_js(void) { return control_keys_js; }

static const char control_openapi_json[] = {
#embed "../Control/openapi.json" suffix(, )
    0};
const char *tandem_control_openapi_json(void) { return control_openapi_json; }
